// npm run soak: clients and devices come and go a thousand times, networks fail for a minute, the gateway is attacked, and
// a chip gets 60,000 hostile messages. About fifteen minutes. npm test does a little of the same.
import { makeProgram, runProgram } from "../scripts/program.js";
import { runTests } from "./support/run-tests.js";

const FILES = [
	"host-test/e2e/gateway-leaks.test.ts",
	"host-test/e2e/gateway-outages.test.ts",
	"host-test/e2e/gateway-attacks.test.ts",
	"host-test/node/hostile.test.ts",
];

const program = makeProgram(
	"run soak",
	"Wears the gateway and a chip for fifteen minutes: clients, devices and networks come and go, messages are hostile.",
);
await runProgram(
	program.action(async () => {
		const env = { XS_MCP_SOAK: "1", XS_MCP_HOSTILE: "60000" };
		process.exitCode = await runTests(FILES, { flags: ["--expose-gc"], env });
	}),
);
