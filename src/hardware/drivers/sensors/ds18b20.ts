import Timer from "timer";

/** The SDK's class of a 1-Wire bus. */
interface OneWire {
	/** Returns whether a device answers. */
	reset(): boolean;
	write(byte: number): void;
	read(count: number): ArrayBuffer;
	close(): void;
}

interface OneWireClass {
	new (options: { readonly pin: number }): OneWire;
	crc(bytes: ArrayBuffer, count: number): number;
}

const SKIP_ROM = 0xcc;
const CONVERT = 0x44;
const READ = 0xbe;

/** Bits of the configuration that are always 1. */
const CONFIGURED = 0x1f;

/** Temperature after power-on, in 16ths of a degree, and the byte 6 that a conversion to it does not leave. */
const POWER_ON = 85 * 16;
const POWER_ON_REMAINDER = 0x0c;

/** Time from one reading to the next, ms: a conversion to 12 bits takes 750. */
const INTERVAL = 1_000;

/**
 * Driver of the thermometer DS18B20, the only one on its pin. The SDK's own driver is wrong below 0 °C.
 *
 * It converts continuously, so that a sample does not wait.
 */
export default class DS18B20 {
	/** The module that the part `sensor` opens. */
	static readonly io: string = "onewire";

	private readonly OneWire: OneWireClass;
	private readonly wire: OneWire;
	private readonly watch: ReturnType<typeof Timer.repeat>;
	private latest: number | Error | undefined;
	/** Whether the last command to convert was answered. */
	private isConverting = false;

	constructor({ sensor: { io, pin } }: { readonly sensor: { readonly io: OneWireClass; readonly pin: number } }) {
		this.OneWire = io;
		this.wire = new io({ pin });
		try {
			this.convert();
		} catch (error) {
			this.wire.close();
			throw error;
		}
		this.watch = Timer.repeat(() => this.measure(), INTERVAL);
	}

	/** Returns the temperature; undefined until the first conversion. @throws Error if the last one failed */
	sample(): object | undefined {
		if (this.latest instanceof Error) {
			throw this.latest;
		}
		return this.latest === undefined ? undefined : { temperature: this.latest };
	}

	close(): void {
		Timer.clear(this.watch);
		this.wire.close();
	}

	/** Stays without a value after an error until a conversion is read: the sensor may have lost its power. */
	private measure(): void {
		try {
			if (this.isConverting) {
				this.isConverting = false;
				this.latest = this.readTemperature();
			}
			this.convert();
		} catch (error) {
			this.latest = error as Error;
		}
	}

	private convert(): void {
		this.command(CONVERT);
		this.isConverting = true;
	}

	private readTemperature(): number {
		this.command(READ);
		const scratchpad = this.wire.read(9);
		const bytes = new DataView(scratchpad);
		if (this.OneWire.crc(scratchpad, 8) !== bytes.getUint8(8)) {
			throw new Error("wrong checksum: is it the only sensor on its pin?");
		}
		if ((bytes.getUint8(4) & CONFIGURED) !== CONFIGURED) {
			throw new Error("wrong data: is the line held low?");
		}
		const raw = bytes.getInt16(0, true);
		if (raw === POWER_ON && bytes.getUint8(6) === POWER_ON_REMAINDER) {
			throw new Error("the sensor has lost its power");
		}
		return raw / 16;
	}

	/** @throws Error if no device answers */
	private command(command: number): void {
		if (!this.wire.reset()) {
			throw new Error("no answer: the pin needs a resistor of 4.7 kΩ to 3.3 V");
		}
		this.wire.write(SKIP_ROM);
		this.wire.write(command);
	}
}
