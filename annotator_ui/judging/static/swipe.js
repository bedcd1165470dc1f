// What a finger meant: a clear stroke to one side, not a tap, a scroll or a pinch.

export function strokeOf({ dx, dy, ms, fingers = 1 }) {
  if (fingers !== 1 || ms > 800) return null;
  if (Math.abs(dx) < 60 || Math.abs(dx) < 1.8 * Math.abs(dy)) return null;
  return dx > 0 ? "right" : "left";
}
