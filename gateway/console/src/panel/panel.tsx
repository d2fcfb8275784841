import type { ReadonlySignal } from "@preact/signals";
import { visibleLine } from "../parts/visible.js";
import type { Device } from "../store/device.js";
import { stateText } from "../texts/index.js";
import { Controls } from "../views/controls.js";
import { Pictures, Readings } from "../views/readings.js";

interface PanelProps {
	readonly device: Device;
	readonly state: ReadonlySignal<string>;
}

/** A device beside a result in a chat: its state, its controls, its readings, its last picture. */
export function Panel({ device, state }: PanelProps) {
	return (
		<main class="panel">
			<div class="title-row">
				<h1>{visibleLine(device.alias)}</h1>
				{state.value !== "" && <span class="tag">{stateText(state.value)}</span>}
			</div>
			<Controls link={device} />
			<Readings link={device} isFollowed />
			<Pictures link={device} />
		</main>
	);
}
