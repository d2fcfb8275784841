import Timer from "timer";
import { deepFreeze } from "../../core/text/deep-freeze.js";
import type { BoardData, OpenMember } from "../board-data.js";
import { openOnBus, type SmBusRecord } from "./bus-chip.js";
import { boardBus } from "./open-optional.js";

/** Outputs of an expander. */
type ExpanderData = NonNullable<BoardData["expander"]>;

/** Registers of an expander, from its data sheet: each is as many bytes as the chip has ports of 8 pins. */
interface Expander {
	/** Default address. */
	readonly address: number;
	readonly ports: 1 | 2;
	readonly output: number;
	readonly direction: number;
	/** Bits in `direction` of pins that are inputs. */
	readonly inputs: 0x00 | 0xff;
	/** Switches pins off while their bits are 1, as they are at the start. */
	readonly highImpedance?: number;
}

const ONE_PORT = { ports: 1, output: 1, direction: 3, inputs: 0xff } as const;

/** A TCA9554A and a PCA9557 differ from the TCA9554, and an XL9555 from the TCA9555, in their addresses only. */
const EXPANDERS: Readonly<Record<ExpanderData["driver"], Expander>> = deepFreeze({
	tca9554: { address: 0x20, ...ONE_PORT },
	pca9557: { address: 0x18, ...ONE_PORT },
	tca9555: { address: 0x20, ports: 2, output: 2, direction: 6, inputs: 0xff },
	pi4ioe5v6408: { address: 0x43, ports: 1, output: 5, direction: 3, inputs: 0x00, highImpedance: 7 },
	py32: { address: 0x6f, ports: 2, output: 5, direction: 3, inputs: 0x00 },
});

/**
 * Sets the outputs of an I2C expander, which power or reset other parts of a board. Pins that are not named stay inputs.
 *
 * @throws Error if the chip does not answer
 */
export const setExpander = (bus: SmBusRecord, data: ExpanderData): void => {
	const { ports, output, direction, inputs, highImpedance, address } = EXPANDERS[data.driver];
	let levels = 0;
	let used = 0;
	for (const [pin, level] of Object.entries(data.outputs)) {
		levels |= level << Number(pin);
		used |= 1 << Number(pin);
	}
	openOnBus(bus, data.address ?? address, (chip) => {
		for (let port = 0; port < ports; port += 1) {
			// The levels come first: otherwise an output would briefly have its old level.
			chip.writeUint8(output + port, (levels >> (8 * port)) & 0xff);
			chip.writeUint8(direction + port, (inputs ^ (used >> (8 * port))) & 0xff);
			if (highImpedance !== undefined) {
				chip.writeUint8(highImpedance, ~used & 0xff);
			}
		}
		chip.close();
	});
};

/** Delay before a retry, ms, and retries: a PY32 is a microcontroller that starts late. */
const PAUSE = 200;
const RETRIES = 5;

/** Sets the outputs of an I/O expander, which may switch the supplies of other parts. */
export default (({ data }) => {
	const expander = data.expander as ExpanderData;
	const open = (retries: number): void => {
		try {
			setExpander(boardBus(), expander);
		} catch (error) {
			if (retries === 0) {
				throw error;
			}
			Timer.delay(PAUSE);
			open(retries - 1);
		}
	};
	open(expander.driver === "py32" ? RETRIES : 0);
}) satisfies OpenMember;
