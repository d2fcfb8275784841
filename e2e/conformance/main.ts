// npm run conformance: MCP's official conformance suites against the gateway, with the firmware of
// host-test/fixtures/everything on a virtual device behind it, and against such a device by itself. Tests run the suites of the
// gateway as a client and as an authorization server. The shipped firmware runs the scenarios that need no tools of the suite.
import { fileURLToPath } from "node:url";
import { Option } from "commander";
import { makeProgram, runProgram } from "xs-mcp/build/program";
import { freePort, temporaryFolder } from "../../host-test/support/testing.js";
import { knownDevices, startDirectDevice, startGateway, startVirtualDevice, untilKnown } from "../gateway-process.js";
import {
	listScenarios,
	OF_ANY_SERVER,
	OF_OWN_TOOLS,
	runScenarios,
	runSuite,
	type ScenarioResult,
	SUITES,
	UNNAMED,
} from "./suites.js";

const FIRMWARE = fileURLToPath(new URL("../../host-test/fixtures/everything/main.ts", import.meta.url));

const TRANSPORTS = {
	WebSocket: { flags: [], url: "websocket" },
	MQTT: { flags: ["--mqtt", "--mqtt-port", "0"], url: "mqtt" },
} as const;

const DIRECT = "HTTP, directly";

const SHIPPED = "HTTP, directly, shipped firmware";

type Transport = keyof typeof TRANSPORTS | typeof DIRECT | typeof SHIPPED;

const ALL = [...Object.keys(TRANSPORTS), DIRECT, SHIPPED] as Transport[];

/** Results of each suite, by its title, over one transport. */
type Results = ReadonlyMap<string, readonly ScenarioResult[]>;

/** Scenarios that the suite does not check yet. Any other failure fails the run. */
const UNCHECKED = ["tasks-status-notifications"];

/** Beginnings of the names of scenarios of what the gateway adds to devices: a device by itself does not have it. */
const OF_GATEWAY = ["tasks-", "sep-2640-skills-"];

function isOfGateway(scenario: string): boolean {
	return OF_GATEWAY.some((beginning) => scenario.startsWith(beginning));
}

/** Passed scenarios and all of them, of those that count: "30/30". */
function figureOf(results: readonly ScenarioResult[]): string {
	const scored = results.filter(({ unscored }) => unscored === undefined);
	return `${scored.filter(({ failed }) => failed === 0).length}/${scored.length}`;
}

/** The scenarios that fail unexpectedly, with the failed checks: a text each. */
function whyUnexpected(results: readonly ScenarioResult[]): string[] {
	return results
		.filter(({ name, failed }) => failed > 0 && !UNCHECKED.includes(name))
		.map(({ name, failed, failures = [] }) => [`${name} fails (${failed} checks)`, ...failures].join("\n  "));
}

async function runDirectly(run: (url: string) => Promise<Results>, ...flags: string[]): Promise<Results> {
	const port = await freePort();
	const device = await startDirectDevice(port, "--new", ...flags);
	try {
		return await run(`http://127.0.0.1:${port}/mcp`);
	} finally {
		await device.stop();
	}
}

async function runOfDevice(url: string): Promise<Results> {
	const results = await runAgainst(url);
	return new Map([...results].map(([suite, each]) => [suite, each.filter(({ name }) => !isOfGateway(name))]));
}

const runOfAnyServer = async (url: string): Promise<Results> =>
	new Map([
		["0.2.0-alpha.12, scenarios of 2026-07-28 for any server", await runScenarios(OF_ANY_SERVER, url, OF_OWN_TOOLS)],
	]);

function runOver(transport: Transport): Promise<Results> {
	switch (transport) {
		case SHIPPED:
			return runDirectly(runOfAnyServer);
		case DIRECT:
			return runDirectly(runOfDevice, "--firmware", FIRMWARE);
		default:
			return runBehindGateway(transport);
	}
}

async function runAgainst(url: string): Promise<Results> {
	const results = new Map();
	for (const suite of SUITES) {
		results.set(suite.title, await runSuite(suite, url));
	}
	return results;
}

async function runBehindGateway(transport: keyof typeof TRANSPORTS): Promise<Results> {
	const { flags, url } = TRANSPORTS[transport];
	const folder = temporaryFolder("xs-mcp-conformance-");
	const gateway = await startGateway(folder, ...flags);
	try {
		const backend = gateway.program.said(new RegExp(`"${url}":"([^"]+)"`));
		const device = await startVirtualDevice(backend, "--new", "--firmware", FIRMWARE);
		try {
			await untilKnown(gateway, 1);
			const [known] = await knownDevices(gateway);
			const address = `${gateway.base}/mcp/${known?.alias}`;
			return new Map([
				...(await runAgainst(address)),
				["skills", await runScenarios(UNNAMED, address, [], "extension")],
			]);
		} finally {
			await device.stop();
		}
	} finally {
		await gateway.program.stop();
	}
}

const program = makeProgram(
	"npm run conformance --",
	"Runs MCP's official conformance suites against a virtual device, behind the gateway and directly.",
)
	.addOption(new Option("--only <transport>", "only over this transport").choices(ALL))
	.action(async ({ only }: { only?: Transport }) => {
		for (const transport of only === undefined ? ALL : [only]) {
			const results = await runOver(transport);
			for (const [title, scenarios] of results) {
				console.log(`${title} over ${transport}: ${figureOf(scenarios)}`);
				for (const problem of whyUnexpected(scenarios)) {
					console.error(`error: ${problem}`);
					process.exitCode = 1;
				}
			}
			const ran = [...results.values()].flat().map(({ name }) => name);
			const wanted = transport === SHIPPED ? OF_ANY_SERVER : listScenarios("Server");
			for (const name of wanted.filter((each) => !ran.includes(each) && !(transport === DIRECT && isOfGateway(each)))) {
				console.error(`error: ${name} did not run over ${transport}`);
				process.exitCode = 1;
			}
		}
	});

await runProgram(program);
