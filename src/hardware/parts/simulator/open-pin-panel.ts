/// <reference path="../../../types/simulator-pins.d.ts" />

import { connectBus, setChip } from "embedded:io/bus";
import "embedded:io/i2c";
import { connectPins, setPin } from "embedded:io/pins";
import { readingsOf } from "embedded:io/sensors";
import Control from "control";

/** A message of the panel: a pin or a reading was set. */
interface PanelMessage {
	readonly set?: readonly [pin: number, level: number | string];
	readonly measured?: readonly [address: number | string, values: Readonly<Record<string, number>>];
}

/** The pins and chips in the panel of Moddable's simulator, panel/parts.js. */
class PinPanel extends Control {
	open(pin: number, kind: string, part: string | undefined, value: number | string): void {
		this.postJSON({ opened: { pin, kind, part, value } });
	}

	write(pin: number, value: number | string | object): void {
		this.postJSON({ written: { pin, value } });
	}

	close(pin: number): void {
		this.postJSON({ closed: pin });
	}

	onJSON({ set, measured }: PanelMessage): void {
		if (set !== undefined) {
			setPin(...set);
		}
		if (measured !== undefined) {
			setChip(...measured);
		}
	}
}

/** Shows the pins and sensors of parts in the simulator's panel. */
export default function openPinPanel(): void {
	const panel = new PinPanel();
	connectPins(panel);
	connectBus((address, part, type, values) =>
		panel.postJSON({ chip: { address, part, type, values, readings: readingsOf(type) } }),
	);
}
