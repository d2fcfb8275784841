import "uplot/dist/uPlot.min.css";
import "../style.css";
import type { CallToolResult, Tool } from "@modelcontextprotocol/client";
import { type ReadonlySignal, signal } from "@preact/signals";
import { render } from "preact";
import { Badge } from "../parts/basics.js";
import { visibleLine } from "../parts/visible.js";
import { Device } from "../store/device.js";
import { chosenLanguage, theme } from "../store/preferences.js";
import { stateText, t } from "../texts/index.js";
import { Controls } from "../views/controls.js";
import { Pictures, Readings } from "../views/readings.js";
import { HostLink } from "./host-link.js";

/** Milliseconds between readings: a page in a chat gets no events. */
const READ_INTERVAL = 2_000;

/** A device beside a result in a chat: its state, its controls, its readings, its last picture. */
function Panel({ device, state }: { readonly device: Device; readonly state: ReadonlySignal<string> }) {
	return (
		<main class="panel">
			<div class="hstack">
				<h1>{visibleLine(device.alias)}</h1>
				{state.value !== "" && <Badge>{stateText(state.value)}</Badge>}
			</div>
			<Controls link={device} />
			<Readings link={device} interval={READ_INTERVAL} />
			<Pictures link={device} />
		</main>
	);
}

/** Data that the gateway embeds in the page. */
interface PanelData {
	readonly alias: string;
	readonly tools: readonly Tool[];
}

/** A device whose tools the host calls. */
class HostedDevice extends Device {
	/** Its state as the gateway knows it: "speaking". Empty if the host does not say. */
	readonly state = signal("");
	/** The tool whose result the page stands beside. */
	#shown = "";
	readonly #host = new HostLink(
		(context) => {
			theme.value = context.theme ?? theme.value;
			chosenLanguage.value = context.locale ?? chosenLanguage.value;
			this.#shown = context.toolInfo?.tool.name ?? this.#shown;
		},
		(result) => this.keep(this.#shown, result),
	);

	async open(tools: readonly Tool[]): Promise<void> {
		this.tools.value = tools;
		await this.#host.open();
		await this.readStatus();
	}

	/** With its state, which the host reads if it reads resources. Without an answer, the state stays as it was. */
	override async readStatus(): Promise<void> {
		await Promise.all([super.readStatus(), this.#readState().catch(() => {})]);
	}

	async #readState(): Promise<void> {
		const text = await this.#host.read(`device://${this.alias}/state`);
		const { online, state } = JSON.parse(text ?? "{}") as { online?: boolean; state?: unknown };
		this.state.value = online === false ? t("offline") : typeof state === "string" ? state : "";
	}

	protected ask(name: string, args: Record<string, unknown>): Promise<CallToolResult> {
		return this.#host.call(name, args);
	}
}

const { alias, tools } = JSON.parse(document.getElementById("device")?.textContent ?? "") as PanelData;
const device = new HostedDevice(alias);
render(<Panel device={device} state={device.state} />, document.getElementById("app") as HTMLElement);
void device.open(tools);
