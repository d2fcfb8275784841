// npm run soak: clients and devices come and go a thousand times, networks fail for a minute, and a chip gets 60,000
// hostile messages. About fifteen minutes. npm test does a little of the same.
import { makeProgram, runProgram } from "../scripts/program.js";
import { runTests } from "./support/run-tests.js";

const FILES = ["e2e/gateway-leaks", "e2e/gateway-outages", "node/hostile"].map((name) => `host-test/${name}.test.ts`);

const program = makeProgram("run soak", "Wears the gateway and attacks a chip, for fifteen minutes.");
await runProgram(
	program.action(async () => {
		process.exitCode = await runTests(FILES, {
			flags: ["--expose-gc"],
			env: { XS_MCP_SOAK: "1", XS_MCP_HOSTILE: "60000" },
		});
	}),
);
