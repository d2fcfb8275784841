// npm run soak: clients and devices come and go a thousand times, networks fail for a minute, the gateway is attacked, and
// a chip gets 60,000 hostile messages. About fifteen minutes. npm test does a little of the same.
import { makeProgram, runProgram } from "../scripts/program.js";
import { runTests } from "./runner/run.js";

const FILES = [
	"host-test/e2e/gateway-leaks.full.test.ts",
	"host-test/e2e/gateway-outages.full.test.ts",
	"host-test/e2e/gateway-attacks.full.test.ts",
	"host-test/node/hostile.test.ts",
];

const program = makeProgram(
	"run soak",
	"Wears the gateway and a chip for fifteen minutes: clients, devices and networks come and go, messages are hostile.",
);
await runProgram(
	program.action(async () => {
		const env = { XS_MCP_SOAK: "1", XS_MCP_HOSTILE: "60000" };
		process.exitCode = await runTests(FILES, { concurrency: 1, isolate: true, flags: ["--expose-gc"], env });
	}),
);
