// npm run bench:gateway: what a call through the gateway costs, and how it is with thousands of devices. Writes its tables
// to the terminal and to bench/gateway-results.md.
import { availableParallelism, cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { makeProgram, runProgram } from "../scripts/program.js";
import { benchFleets } from "./gateway/fleet.js";
import { benchOverhead } from "./gateway/overhead.js";
import { makeReport } from "./report.js";

await runProgram(
	makeProgram(
		"run bench:gateway",
		"Measures the gateway, and writes bench/gateway-results.md. Takes six minutes.",
	).action(() => {}),
);

const report = makeReport();
const { say } = report;
say("# The gateway, measured");
say();
say(`Written by \`npm run bench:gateway\` on ${new Date().toISOString().slice(0, 10)}.`);
say(
	`${cpus()[0]?.model ?? "CPU"}, ${availableParallelism()} cores, Node ${process.version}; everything on this one machine.`,
);
say();
await benchOverhead(report);
say();
await benchFleets(report, [1_000, 5_000]);
report.write(fileURLToPath(new URL("gateway-results.md", import.meta.url)));
