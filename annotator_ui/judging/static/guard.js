// When a judgement is taken: only of a pair that was really painted, a moment after it was, and with nothing above it.

export const MOMENT = 150; // ms after painting: a press before that was meant for the pair before

// Why a press is not taken as a judgement; null if it is.
export function refusal({ painted, paintedAt, pressedAt, repeat, dialog, standby, signedOut, hidden }) {
  if (repeat) return "repeat";
  if (standby) return "standby";
  if (signedOut) return "signed out";
  if (dialog) return "dialog";
  if (hidden) return "hidden";
  if (!painted) return "not painted";
  if (pressedAt - paintedAt < MOMENT) return "too soon";
  return null;
}

// Whether anybody's dialog is open, also Streamlit's "Connection error".
export function dialogOpen(root = document) {
  for (const dialog of root.querySelectorAll("[role=dialog], [role=alertdialog]")) {
    if (dialog.getClientRects().length > 0) return true;
  }
  return false;
}
