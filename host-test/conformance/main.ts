// npm run conformance: MCP's official conformance suites against the gateway, with the firmware of
// host-test/fixtures/everything on a virtual device behind it, against such a device by itself, and against the gateway's
// connections to upstream servers. Writes docs/verified.md.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Argument, Option } from "commander";
import { makeProgram, runProgram } from "../../toolchain/program.js";
import {
	knownDevices,
	startDirectDevice,
	startGateway,
	startVirtualDevice,
	untilKnown,
} from "../e2e/gateway-process.js";
import { freePort } from "../support/port.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { runAuthorizationScenarios, writeAuthorizationPart } from "./authorization-scenarios.js";
import { clientProblems, splitReport, writeClientPart } from "./client-report.js";
import { CLIENT_REVISIONS, runClientScenarios } from "./client-scenarios.js";
import { isOfGateway } from "./exceptions.js";
import { problemsOf, REPORT_HEADING, type Results, readFigures, whyUnexpected, writeReport } from "./report.js";
import { runSuite, runUnnamed, SUITES } from "./suites.js";

const REPORT = fileURLToPath(new URL("../../docs/verified.md", import.meta.url));
const FIRMWARE = fileURLToPath(new URL("../fixtures/everything/main.ts", import.meta.url));

/** How devices are connected: the gateway's flags, and what its log calls their URL. */
const TRANSPORTS = {
	WebSocket: { flags: [], url: "websocket" },
	MQTT: { flags: ["--mqtt", "--mqtt-port", "0"], url: "mqtt" },
} as const;

/** A device that serves clients by itself, without the gateway. */
const DIRECT = "HTTP, directly";

type Transport = keyof typeof TRANSPORTS | typeof DIRECT;

const ALL = [...Object.keys(TRANSPORTS), DIRECT] as Transport[];

async function runDirectly(): Promise<Results> {
	const port = await freePort();
	const device = await startDirectDevice(port, "--new", "--firmware", FIRMWARE);
	try {
		const results = await runAgainst(`http://127.0.0.1:${port}/mcp`);
		return new Map([...results].map(([suite, each]) => [suite, each.filter(({ name }) => !isOfGateway(name))]));
	} finally {
		await device.stop();
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
			return new Map([...(await runAgainst(address)), ["skills", await runUnnamed(address)]]);
		} finally {
			await device.stop();
		}
	} finally {
		await gateway.program.stop();
	}
}

/** A part of the report, and what is wrong. */
interface Part {
	readonly text: string;
	readonly problems: readonly string[];
}

async function runServer(before: string, only: Transport | undefined): Promise<Part> {
	const results = new Map<string, Results>();
	for (const transport of only === undefined ? ALL : [only]) {
		results.set(transport, await (transport === DIRECT ? runDirectly() : runBehindGateway(transport)));
	}
	const figures = readFigures(before);
	const problems = [...results].flatMap(([transport, each]) => problemsOf(transport, each, figures));
	return { text: writeReport(results), problems };
}

async function runClient(before: string): Promise<Part> {
	const results = new Map();
	for (const revision of CLIENT_REVISIONS) {
		results.set(revision, await runClientScenarios(revision));
	}
	return { text: writeClientPart(results), problems: clientProblems(results, before) };
}

async function runAuthorization(): Promise<Part> {
	const results = await runAuthorizationScenarios();
	return { text: writeAuthorizationPart(results), problems: whyUnexpected("authorization", results) };
}

const SIDES = ["server", "client", "authorization"] as const;
type Side = (typeof SIDES)[number];

const program = makeProgram(
	"run conformance",
	"Runs MCP's official conformance suites against a virtual device, behind the gateway and directly, against the gateway's\n" +
		"connections to upstream servers, and against its authorization server.",
)
	.addArgument(new Argument("[side]", "only the gateway as that: client is one of upstream servers").choices(SIDES))
	.addOption(
		new Option("--only <transport>", "only the server, over this transport; the report is not written").choices(ALL),
	)
	.action(async (side: Side | undefined, { only }: { only?: Transport }) => {
		const page = readFileSync(REPORT, "utf8");
		const start = page.indexOf(REPORT_HEADING);
		const before = page.slice(start);
		const kept = splitReport(before);
		const runs = (each: Side): boolean => (only === undefined ? (side ?? each) : "server") === each;
		const server = runs("server") ? await runServer(before, only) : undefined;
		const client = runs("client") ? await runClient(before) : undefined;
		const authorization = runs("authorization") ? await runAuthorization() : undefined;
		const parts = [server, client, authorization].filter((part) => part !== undefined);
		for (const { text } of parts) {
			console.log(text.split(/\n##+ (?!As)/)[0]);
		}
		const problems = parts.flatMap((part) => part.problems);
		for (const problem of problems) {
			console.error(`error: ${problem}`);
		}
		if (problems.length > 0) {
			process.exitCode = 1;
		} else if (only === undefined) {
			const texts = SIDES.map((each) => ({ server, client, authorization })[each]?.text ?? kept[each]);
			writeFileSync(
				REPORT,
				`${page.slice(0, start)}${texts
					.map((text) => text.trimEnd())
					.join("\n\n")
					.trimEnd()}\n`,
			);
		}
	});

await runProgram(program);
