// Names for acts and tabs, never given twice. crypto.randomUUID is missing on plain http; getRandomValues is not.

export function makeToken(source = globalThis.crypto) {
  const bytes = source.getRandomValues(new Uint8Array(15));
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_");
}
