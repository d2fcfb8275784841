// npm run soak: hosts and devices come and go a thousand times, and networks fail for a minute. About twelve
// minutes. npm test does a little of the same.
import { makeProgram, runProgram } from "../scripts/program.js";
import { runTests } from "./support/run-tests.js";

const FILES = ["host-test/e2e/gateway-leaks.test.ts", "host-test/e2e/gateway-outages.test.ts"];

const program = makeProgram(
	"run soak",
	"Wears the gateway for twelve minutes: clients, devices and networks come and go.",
);
await runProgram(
	program.action(async () => {
		process.exitCode = await runTests(FILES, { flags: ["--expose-gc"], env: { XS_MCP_SOAK: "1" } });
	}),
);
