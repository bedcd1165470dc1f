// A real OpenID provider for one test: node openid_provider.mjs PORT CALLBACK. Any login name is an account; names that
// begin with "unproved" have an address that is not verified.
import { Provider } from "oidc-provider";

const [port, callback] = process.argv.slice(2);
const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [{ client_id: "eds", client_secret: "a secret of the test", redirect_uris: [callback] }],
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
  conformIdTokenClaims: false,
  pkce: { required: () => true },
  findAccount: async (_, id) => ({
    accountId: id,
    claims: async () => ({ sub: id, email: id, email_verified: !id.startsWith("unproved") }),
  }),
});
provider.listen(Number(port), "127.0.0.1", () => console.log("ready"));
