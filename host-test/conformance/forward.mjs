// The command that a client scenario runs: `node forward.mjs USER SERVER`. Has the user at USER exercise the scenario's server
// behind the gateway, and ends when that is done.
const [user, server] = process.argv.slice(2);
const { MCP_CONFORMANCE_PROTOCOL_VERSION: revision, MCP_CONFORMANCE_CONTEXT: context = "{}" } = process.env;
const body = JSON.stringify({ server, revision, context: JSON.parse(context) });
const response = await fetch(user, { method: "POST", body });
if (!response.ok) {
	console.error(await response.text());
	process.exitCode = 1;
}
