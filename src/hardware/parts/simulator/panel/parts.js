// The device that Moddable's simulator shows for a build with parts of its own: a screen, and beside it a row for each pin.
import { ButtonsRow, ControlsColumn, InfoRow, SliderRow, SwitchRow } from "ControlsPane";
import { DeviceBehavior, DeviceContainer, DeviceScreen } from "DevicePane";

const MAX_ANALOG = 4_095;
const MAX_PULSE = 30_000;

/** Units that do not fit into a row, and those shown instead. */
const SHORT_UNITS = { Pa: { unit: "hPa", factor: 100 } };

/** The rows of inputs, by what a pin is. Others show what the firmware does with theirs. */
const INPUTS = {
	input: (row) => new SwitchRow({ ...row, event: "onSwitched", on: "high", off: "low", value: row.value !== 0 }),
	analog: (row) => new SliderRow({ ...row, ...slider(MAX_ANALOG), unit: "" }),
	pulse: (row) => new SliderRow({ ...row, ...slider(MAX_PULSE), unit: " µs" }),
	counter: (row) => new ButtonsRow({ ...row, buttons: [{ ...row, event: "onPulse", label: "Pulse" }] }),
	receive: (row) => new ButtonsRow({ ...row, buttons: [{ ...row, event: "onLine", label: "Send a line" }] }),
};

const slider = (max) => ({ event: "onMoved", min: 0, max, step: 1 });

/** Where the rows stand, below the button's. */
let controls;

class ControlsBehavior extends Behavior {
	onCreate(column) {
		controls = column;
	}
}

class PartsBehavior extends DeviceBehavior {
	onCreate(container, device) {
		super.onCreate(container, device);
		this.rows = new Map();
	}
	onDefaultButtonDown(container) {
		this.postJSON(container, { button: 1 });
	}
	onDefaultButtonUp(container) {
		this.postJSON(container, { button: 0 });
	}
	onKeyDown(container, key) {
		if (key.charCodeAt(0) === 127) {
			this.onDefaultButtonDown(container);
		}
	}
	onKeyUp(container, key) {
		if (key.charCodeAt(0) === 127) {
			this.onDefaultButtonUp(container);
		}
	}
	onJSON(_container, { opened, written, closed, chip, led }) {
		if (led !== undefined) {
			this.show("led", led);
		}
		if (opened !== undefined) {
			this.open(opened);
		}
		if (written !== undefined) {
			this.show(written.pin, written.value);
		}
		if (closed !== undefined) {
			this.close(closed);
		}
		if (chip !== undefined) {
			this.addChip(chip);
		}
	}
	addChip({ address, part, type, values, readings }) {
		for (const [name, range] of Object.entries(readings)) {
			const key = `${address} ${name}`;
			if (!this.rows.has(key)) {
				const { unit, factor } = SHORT_UNITS[range.unit] ?? { unit: range.unit ?? name, factor: 1 };
				const [min, max] = [range.min / factor, range.max / factor];
				const step = 10 ** Math.floor(Math.log10((max - min) / 100));
				const row = new SliderRow({
					...{ address, name, factor, min, max, step, event: "onMeasured", unit: "" },
					label: `${part ?? type} ${unit}`,
					value: Math.round(values[name] / factor / step) * step,
				});
				this.rows.set(key, { kind: "chip", made: row });
				controls?.add(row);
			}
		}
	}
	onMeasured(container, { address, name, factor, value }) {
		this.postJSON(container, { measured: [address, { [name]: value * factor }] });
	}
	open({ pin, kind, part, value }) {
		this.close(pin);
		const row = { pin, label: part === undefined ? `Pin ${pin}` : `${part} (${pin})`, value };
		const made = INPUTS[kind]?.(row) ?? new InfoRow({ ...row, value: describe(kind, value) });
		this.rows.set(pin, { kind, made });
		controls?.add(made);
	}
	close(pin) {
		const row = this.rows.get(pin);
		if (this.rows.delete(pin) && row.made.container) {
			controls?.remove(row.made);
		}
	}
	show(pin, value) {
		const row = this.rows.get(pin);
		if (row !== undefined) {
			row.made.last.string = describe(row.kind, value);
		}
	}
	onSwitched(container, { pin, value }) {
		this.postJSON(container, { set: [pin, value ? 1 : 0] });
	}
	onMoved(container, { pin, value }) {
		this.postJSON(container, { set: [pin, Math.round(value)] });
	}
	onPulse(container, button) {
		button.value += 1;
		this.postJSON(container, { set: [button.pin, button.value] });
	}
	onLine(container, button) {
		button.count = (button.count ?? 0) + 1;
		this.postJSON(container, { set: [button.pin, `line ${button.count}`] });
	}
}

const describe = (kind, value) => {
	const units = { pwm: " %", servo: " µs" };
	return kind === "output" ? (value ? "on" : "off") : `${value}${units[kind] ?? ""}`;
};

export default {
	applicationName: ".*",
	title: "Parts",
	Workers: {},
	ControlsTemplate: ControlsColumn.template(() => ({
		Behavior: ControlsBehavior,
		contents: [
			ButtonsRow({
				label: "Button",
				buttons: [{ eventDown: "onDefaultButtonDown", eventUp: "onDefaultButtonUp", label: "Default" }],
			}),
		],
	})),
	DeviceTemplates: {
		0: DeviceContainer.template(($) => ({
			Behavior: PartsBehavior,
			width: 320,
			height: 240,
			contents: [DeviceScreen($, { left: 0, width: 320, top: 0, height: 240, rotation: 0 })],
		})),
	},
};
