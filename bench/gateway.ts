// npm run bench:gateway: what a call through the gateway costs, and how it is with thousands of devices. Writes its tables
// to the terminal and to bench/gateway-results.md.
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { makeProgram, runProgram } from "../scripts/program.js";
import { benchConsole } from "./gateway/console.js";
import { benchFleets } from "./gateway/fleet.js";
import { benchOverhead } from "./gateway/overhead.js";
import { makeReport, type Report } from "./report.js";

const RESULTS = fileURLToPath(new URL("gateway-results.md", import.meta.url));

/** The heading of the console's section: the last one. */
const CONSOLE = "\n## The console with";

const program = makeProgram(
	"run bench:gateway",
	"Measures the gateway, and writes bench/gateway-results.md. Takes eight minutes.",
)
	.option("--console", "Measure the console alone, and leave the rest of the file as it is")
	.action(() => {});
await runProgram(program);

if (program.opts<{ console?: true }>().console) {
	const report = makeReport();
	const before = readFileSync(RESULTS, "utf8").split(CONSOLE)[0]?.trimEnd() ?? "";
	await sayConsole(report);
	report.write(RESULTS);
	writeFileSync(RESULTS, `${before}\n\n${readFileSync(RESULTS, "utf8")}`);
} else {
	await measureAll();
}

async function measureAll(): Promise<void> {
	const report = makeReport();
	const { say } = report;
	say("# The gateway, measured");
	say();
	say(`Written by \`npm run bench:gateway\` on ${today()}.`);
	say(
		`${cpus()[0]?.model ?? "CPU"}, ${availableParallelism()} cores, Node ${process.version}; everything on this one machine.`,
	);
	say();
	await benchOverhead(report);
	say();
	await benchFleets(report, [1_000, 5_000]);
	say();
	await sayConsole(report);
	report.write(RESULTS);
}

async function sayConsole(report: Report): Promise<void> {
	await benchConsole(report);
	const [load = 0] = loadavg();
	report.say();
	report.say(
		`Measured on ${today()} with Chromium, gateway and devices on ${availableParallelism()} cores; the load was ${load.toFixed(0)}.`,
	);
}

function today(): string {
	return new Date().toISOString().slice(0, 10);
}
