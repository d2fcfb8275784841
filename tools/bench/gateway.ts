// npm run bench:gateway: measures calls through the gateway, and fleets of thousands of devices. Writes its tables
// to the terminal and to tools/bench/gateway-results.md.
import { readFileSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { Option } from "commander";
import { makeProgram, runProgram } from "xs-mcp/build/program";
import { benchCalls, benchFleets } from "./gateway-sections.js";
import { MACHINE, makeReport, type Report } from "./report.js";

const RESULTS = fileURLToPath(new URL("gateway-results.md", import.meta.url));

/** The parts of the results, in their order. Each begins with its heading. */
const SECTIONS: Readonly<Record<string, (report: Report) => Promise<void>>> = {
	calls: (report) => benchCalls(report, [1, 1_000, 5_000]),
	fleets: (report) => benchFleets(report, program.opts<{ devices: string }>().devices.split(",").map(Number)),
};

const program = makeProgram(
	"npm run bench:gateway --",
	"Measures the gateway, and writes tools/bench/gateway-results.md. Takes ten minutes.",
)
	.addOption(
		new Option("--only <section>", "Measure one section, and leave the rest of the file as it is").choices(
			Object.keys(SECTIONS),
		),
	)
	.option("--devices <numbers>", "Devices of each fleet", "1000,5000,10000")
	.action(() => {});
await runProgram(program);

const { only } = program.opts<{ only?: string }>();
const [title = "", ...before] = readFileSync(RESULTS, "utf8").split(/\n(?=## )/);
const written = new Map(Object.keys(SECTIONS).map((name, index) => [name, before[index]?.trimEnd() ?? ""]));
for (const [name, measure] of Object.entries(SECTIONS)) {
	if (only === undefined || only === name) {
		written.set(name, await measured(measure));
	}
}
writeFileSync(RESULTS, `${[title.trimEnd(), ...written.values()].join("\n\n")}\n`);

/** A section, and under what conditions it was measured. */
async function measured(measure: (report: Report) => Promise<void>): Promise<string> {
	const report = makeReport();
	await measure(report);
	report.say();
	const [date, [load = 0]] = [new Date().toISOString().slice(0, 10), loadavg()];
	report.say(`Measured on ${date} on one machine (${MACHINE}); the load was ${load.toFixed(0)}.`);
	return report.text();
}
