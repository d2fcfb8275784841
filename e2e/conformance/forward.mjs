// The command that a client scenario runs: `node forward.mjs USER SCENARIO SERVER`. Has the user at USER exercise the scenario's server
// behind the gateway, and ends when that is done.
const [user, scenario, server] = process.argv.slice(2);
const { MCP_CONFORMANCE_PROTOCOL_VERSION: revision, MCP_CONFORMANCE_CONTEXT: context = "{}" } = process.env;
const body = JSON.stringify({ scenario, server, revision, context: JSON.parse(context) });
const response = await fetch(user, { method: "POST", body });
if (!response.ok) {
	console.error(await response.text());
	process.exitCode = 1;
}
