// npm run soak: clients and devices come and go a thousand times, the gateway is attacked, a chip gets
// 60,000 hostile messages, and a gateway is killed each minute for half an hour (XS_MCP_SOAK_SECONDS for another time). About
// fifty minutes. npm run test:all does a little of the same.

import { makeProgram, ProgramError, runProgram } from "xs-mcp/build/program";
import { LONG_SILENCE, runTests } from "../../host-test/runner/run.js";

const FILES = {
	leaks: "e2e/soak/gateway-leaks.full.test.ts",
	attacks: "e2e/soak/gateway-attacks.full.test.ts",
	hostile: "e2e/soak/hostile.full.test.ts",
	restarts: "e2e/soak/gateway-restarts.full.test.ts",
} as const;

const NAMES = Object.keys(FILES) as (keyof typeof FILES)[];

const program = makeProgram(
	"npm run soak --",
	"Wears the gateway and a chip for fifty minutes: gateways, clients and devices come and go, messages are hostile.",
).argument("[names...]", `Only some of it: ${NAMES.join(", ")}`);
await runProgram(
	program.action(async (names: string[]) => {
		const unknown = names.find((name) => !NAMES.includes(name as keyof typeof FILES));
		if (unknown !== undefined) {
			throw new ProgramError(`${unknown}: expected ${NAMES.join(", ")}`);
		}
		const files = NAMES.filter((name) => names.length === 0 || names.includes(name)).map((name) => FILES[name]);
		const env = { XS_MCP_SOAK: "1", XS_MCP_HOSTILE: "60000" };
		process.exitCode = await runTests(files, {
			concurrency: 1,
			isolate: true,
			maxSilence: LONG_SILENCE,
			flags: ["--expose-gc"],
			env,
		});
	}),
);
