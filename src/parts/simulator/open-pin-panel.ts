/// <reference path="../../types/simulator-pins.d.ts" />

import { connectPins, setPin } from "embedded:io/pins";
import Control from "control";

/** What the panel says: somebody has set a pin. */
interface PanelMessage {
	readonly set?: readonly [pin: number, level: number | string];
}

/** The pins in the panel of Moddable's simulator, panel/parts.js. */
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

	onJSON({ set }: PanelMessage): void {
		if (set !== undefined) {
			setPin(...set);
		}
	}
}

/** Shows the pins of parts in the simulator's panel. */
export default function openPinPanel(): void {
	connectPins(new PinPanel());
}
