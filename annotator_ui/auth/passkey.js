// Makes or uses a passkey for each form with data-passkey="create" or "get", then sends the form with the answer.
"use strict";

const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (sign) => sign.charCodeAt(0));
const text = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

function parsed(options) {
  const listed = (list) => (list ?? []).map((one) => ({ ...one, id: bytes(one.id) }));
  const common = { ...options, challenge: bytes(options.challenge) };
  if (!options.user) return { ...common, allowCredentials: listed(options.allowCredentials) };
  return { ...common, user: { ...options.user, id: bytes(options.user.id) }, excludeCredentials: listed(options.excludeCredentials) };
}

function answer(credential) {
  const parts = ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"];
  const response = {};
  for (const name of parts) if (credential.response[name]) response[name] = text(credential.response[name]);
  return JSON.stringify({ id: credential.id, rawId: text(credential.rawId), type: credential.type, response });
}

const numeric = /^[\d.]+$|^\[/.test(location.hostname); // a passkey needs a host with a name
if (window.isSecureContext && window.PublicKeyCredential && !numeric) {
  for (const form of document.querySelectorAll("form[data-passkey]")) {
    form.hidden = false;
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const wrong = form.querySelector("[role=alert]");
      wrong.hidden = true;
      try {
        const publicKey = parsed(JSON.parse(form.dataset.options));
        const credential = await navigator.credentials[form.dataset.passkey]({ publicKey });
        form.elements.credential.value = answer(credential);
        form.submit();
      } catch {
        wrong.hidden = false; // refused by the person, or the device has none
      }
    });
  }
}
