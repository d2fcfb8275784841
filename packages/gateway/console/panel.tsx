import "uplot/dist/uPlot.min.css";
import "./style.css";
import type { CallToolResult, Tool } from "@modelcontextprotocol/client";
import { type ReadonlySignal, signal } from "@preact/signals";
import { render } from "preact";
import { Device } from "./store/device.js";
import { chosenLanguage, stateText, t, theme, visibleLine } from "./texts.js";
import { Badge } from "./views/basics.js";
import { Controls } from "./views/controls.js";
import { Pictures, Readings } from "./views/readings.js";

/** Milliseconds between readings: a page in a chat gets no events. */
const READ_INTERVAL = 2_000;

/** The panel of a device in a chat, next to a tool's result: state, controls, readings, and the last picture. */
function Panel({ device, title, state }: { device: Device; title: string; state: ReadonlySignal<string> }) {
	return (
		<main class="panel">
			<div class="hstack">
				<h1>{visibleLine(title)}</h1>
				{state.value !== "" && <Badge>{stateText(state.value)}</Badge>}
			</div>
			<Controls link={device} />
			<Readings link={device} />
			<Pictures link={device} />
		</main>
	);
}

// The view's side of MCP Apps (2026-01-26): JSON-RPC by postMessage with the application that shows the page. Not the
// package's own `App`: with its schemas it is three times as large as this page may be.

/** The host's context, and the call that the page belongs to. */
interface HostContext {
	readonly theme?: "light" | "dark";
	readonly locale?: string;
	readonly toolInfo?: { readonly tool: { readonly name: string } };
}

interface Initialized {
	readonly hostContext?: HostContext;
	readonly hostCapabilities?: { readonly serverResources?: object };
}

interface Message {
	readonly id?: number | string;
	readonly method?: string;
	readonly params?: unknown;
	readonly result?: unknown;
	readonly error?: { readonly message?: string };
}

const REVISION = "2026-01-26";

/** A device whose tools the host calls: the application that shows the page. */
class HostedDevice extends Device {
	/** Its state as the gateway knows it: "speaking". Empty if the host does not say. */
	readonly state = signal("");
	/** The tool whose result the page accompanies. */
	#shown = "";
	#readsResources = false;
	readonly #waiting = new Map<number, { resolve: (result: never) => void; reject: (error: Error) => void }>();
	#id = 0;

	/** Introduces the page to the host, and reports each change of its height. */
	async open(tools: readonly Tool[]): Promise<void> {
		this.tools.value = tools;
		addEventListener("message", ({ source, data }) => {
			if (source === parent) {
				this.#receive(data as Message);
			}
		});
		const { hostContext, hostCapabilities } = await this.#request<Initialized>("ui/initialize", {
			protocolVersion: REVISION,
			appInfo: { name: "xs-mcp-device", version: "1.0.0" },
			appCapabilities: {},
		});
		this.#readsResources = hostCapabilities?.serverResources !== undefined;
		this.#follow(hostContext ?? {});
		send({ method: "ui/notifications/initialized", params: {} });
		const element = document.documentElement;
		new ResizeObserver(() => {
			const { width, height } = element.getBoundingClientRect();
			const params = { width: Math.ceil(width), height: Math.ceil(height) };
			send({ method: "ui/notifications/size-changed", params });
		}).observe(element);
		await this.readStatus();
	}

	/** With its state, which the host reads if it reads resources. Without an answer, the state stays as it was. */
	override async readStatus(): Promise<void> {
		await Promise.all([super.readStatus(), this.#readsResources && this.#readState().catch(() => {})]);
	}

	protected ask(name: string, args: Record<string, unknown>): Promise<CallToolResult> {
		return this.#request("tools/call", { name, arguments: args });
	}

	async #readState(): Promise<void> {
		const params = { uri: `device://${this.alias}/state` };
		const { contents } = await this.#request<{ contents?: readonly { text?: string }[] }>("resources/read", params);
		const { online, state } = JSON.parse(contents?.[0]?.text ?? "{}") as { online?: boolean; state?: unknown };
		this.state.value = online === false ? t("offline") : typeof state === "string" ? state : "";
	}

	/** Makes a request of the host. Rejects with what the host says. */
	#request<T>(method: string, params: object): Promise<T> {
		this.#id += 1;
		const id = this.#id;
		return new Promise<T>((resolve, reject) => {
			this.#waiting.set(id, { resolve, reject });
			send({ id, method, params });
		});
	}

	#receive({ id, method, params, result, error }: Message): void {
		if (method === undefined) {
			const request = this.#waiting.get(id as number);
			this.#waiting.delete(id as number);
			if (error === undefined) {
				request?.resolve(result as never);
			} else {
				request?.reject(new Error(error.message ?? "the host has rejected the request"));
			}
		} else if (method === "ui/notifications/host-context-changed") {
			this.#follow(params as HostContext);
		} else if (method === "ui/notifications/tool-result") {
			this.keep(this.#shown, params as CallToolResult);
		} else if (id !== undefined) {
			// "ui/resource-teardown" and "ping": nothing is to be saved.
			send({ id, result: {} });
		}
	}

	#follow(context: HostContext): void {
		theme.value = context.theme ?? theme.value;
		chosenLanguage.value = context.locale ?? chosenLanguage.value;
		this.#shown = context.toolInfo?.tool.name ?? this.#shown;
	}
}

/** Sends a message to the host, which may have any origin: every message of this page is for it. */
function send(message: Message): void {
	parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
}

const data = JSON.parse(document.getElementById("device")?.textContent ?? "");
const { alias, title = alias, tools } = data as { alias: string; title?: string; tools: readonly Tool[] };
const device = new HostedDevice(alias);
render(<Panel device={device} title={title} state={device.state} />, document.getElementById("app") as HTMLElement);
void device.open(tools);
const read = (): unknown => document.visibilityState === "visible" && device.readStatus();
setInterval(read, READ_INTERVAL);
document.addEventListener("visibilitychange", read);
