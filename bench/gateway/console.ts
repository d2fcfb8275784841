import { once } from "node:events";
import { join } from "node:path";
import { chromium, type Page } from "playwright-core";
import { WebSocket } from "ws";
import { startGateway, untilKnown } from "../../host-test/e2e/gateway-process.js";
import type { Program } from "../../host-test/e2e/program.js";
import { temporaryFolder } from "../../host-test/support/temporary-folder.js";
import { CHROMIUM_ARGUMENTS, chromiumPath } from "../../toolchain/chromium.js";
import type { Report } from "../report.js";
import { startLightDevices, writeTools } from "./light-fleet.js";

const DEVICES = 10_000;

/** Changes of a device's state, and keys, that are measured. */
const CHANGES = 40;

/** A device whose state changes: no light device has this address. */
const WATCHED = "02:aa:00:00:00:01";

const TOOL = { name: "self.set", description: "Set.", inputSchema: { type: "object", properties: {} } };

/** The console with thousands of devices: memory, the first paint, keys, and how late a change of a state is on the screen. */
export async function benchConsole({ say, header, row }: Report): Promise<void> {
	const folder = temporaryFolder();
	const tools = join(folder, "tools.json");
	await writeTools(tools);
	const gateway = await startGateway(folder, "--max-devices", String(DEVICES + 1));
	const browser = await chromium.launch({
		...(chromiumPath !== undefined && { executablePath: chromiumPath }),
		args: CHROMIUM_ARGUMENTS,
	});
	const programs: Program[] = [];
	try {
		const watched = await connectWatched(gateway.deviceUrl);
		programs.push(await startLightDevices(gateway.deviceUrl, DEVICES, tools));
		await untilKnown(gateway, DEVICES + 1);
		const before = gateway.program.residentBytes;
		const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, locale: "en-GB" });
		const begin = performance.now();
		await page.goto(`${gateway.base}/`);
		await page.locator(".body .row").first().waitFor();
		const painted = performance.now() - begin;
		const keys = await measureKeys(page);
		const changes = await measureChanges(page, watched);
		const heap = await heapOf(page);
		say(`## The console with ${DEVICES.toLocaleString("en")} devices, all online`);
		say();
		header("", "measured");
		row("from the request for the page to the first rows", `${painted.toFixed(0)} ms`);
		row("a key in the search, until what it finds is painted: p50 / p95", describe(keys));
		row("a device's change of state, until it is on the screen: p50 / p95", describe(changes));
		row("the page's heap, after that", `${(heap / 2 ** 20).toFixed(1)} MB`);
		row("gateway's memory without the page", `${(before / 2 ** 20).toFixed(0)} MB`);
		row("… with it, after that", `${(gateway.program.residentBytes / 2 ** 20).toFixed(0)} MB`);
		watched.terminate();
	} finally {
		await browser.close();
		await Promise.all([...programs, gateway.program].map((program) => program.stop()));
	}
}

/** A device that has one tool, and says its state when it is told to. */
async function connectWatched(url: string): Promise<WebSocket> {
	const headers = { "device-id": WATCHED, "client-id": "watched", "protocol-version": "1" };
	const socket = new WebSocket(url, { headers });
	socket.on("message", (data: Buffer) => {
		const { type, session_id, payload } = JSON.parse(data.toString());
		sessions.set(socket, session_id ?? sessions.get(socket));
		if (type === "mcp" && payload.id !== undefined) {
			const result = RESULTS[payload.method] ?? {};
			socket.send(JSON.stringify({ session_id, type: "mcp", payload: { jsonrpc: "2.0", id: payload.id, result } }));
		}
	});
	await once(socket, "open");
	socket.send(JSON.stringify({ type: "hello", version: 1, features: { mcp: true }, transport: "websocket" }));
	return socket;
}

const sessions = new WeakMap<WebSocket, string>();

const RESULTS: Readonly<Record<string, unknown>> = {
	initialize: {
		protocolVersion: "2025-11-25",
		capabilities: { tools: {} },
		serverInfo: { name: "watched", version: "1.0.0" },
	},
	"tools/list": { tools: [TOOL] },
};

function sayState(socket: WebSocket, newState: string): void {
	const payload = { jsonrpc: "2.0", method: "notifications/state_changed", params: { newState } };
	socket.send(JSON.stringify({ session_id: sessions.get(socket), type: "mcp", payload }));
}

/** Has the page measure the milliseconds from the next key until the rows that it finds are painted. */
const MEASURE_KEY = `globalThis.taken = new Promise((resolve) => {
	addEventListener("keydown", ({ timeStamp }) => {
		const painted = () => requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - timeStamp)));
		const observer = new MutationObserver(() => {
			observer.disconnect();
			painted();
		});
		observer.observe(document.querySelector(".table"), { attributeFilter: ["aria-rowcount"] });
	}, { once: true, capture: true });
}), undefined`;

/** Only "watched" has a "w"; Backspace finds all. */
async function measureKeys(page: Page): Promise<readonly number[]> {
	await page.getByRole("searchbox").focus();
	const taken: number[] = [];
	for (let count = 0; count < CHANGES; count += 1) {
		await page.evaluate(MEASURE_KEY);
		await page.keyboard.press(count % 2 === 0 ? "w" : "Backspace");
		taken.push((await page.evaluate("taken")) as number);
	}
	return taken;
}

async function measureChanges(page: Page, watched: WebSocket): Promise<readonly number[]> {
	await page.getByRole("searchbox").fill("watched");
	const taken: number[] = [];
	for (let count = 0; count < CHANGES; count += 1) {
		const state = `state_${count}`;
		const begin = performance.now();
		sayState(watched, state);
		await page.locator(".row .state", { hasText: state }).waitFor();
		taken.push(performance.now() - begin);
	}
	return taken;
}

async function heapOf(page: Page): Promise<number> {
	const session = await page.context().newCDPSession(page);
	await session.send("HeapProfiler.collectGarbage");
	const { usedSize } = await session.send("Runtime.getHeapUsage");
	return usedSize;
}

function describe(taken: readonly number[]): string {
	const sorted = [...taken].sort((one, other) => one - other);
	const at = (share: number): string => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(0);
	return `${at(0.5)} / ${at(0.95)} ms`;
}
