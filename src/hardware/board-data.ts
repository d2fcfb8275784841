import type { StoredSource } from "../core/known-networks.js";
import type { Backlight, Board, Runtime } from "./hardware.js";

/** Chips of SDK 8.2.3 that have Wi-Fi, by ESP-IDF's names. */
export type Chip = "esp32" | "esp32s2" | "esp32s3" | "esp32c3" | "esp32c6";

/** A GPIO of the chip. An object for one that is on while it is low. */
type OutputPin = number | { readonly pin: number; readonly activeLow: boolean };

/** I2S pins: bit clock (BCLK), word select (WS, LRCK) and data of one direction, and the main clock (MCLK) of a codec. */
interface I2sPins {
	readonly clock: number;
	readonly word: number;
	readonly data: number;
	readonly main?: number;
}

/** A step of a panel's initialization: a command (first number) with its parameters, or a delay in ms, at most 255. */
export type PanelStep = readonly number[] | { readonly delay: number };

/** A colour screen of 16 bits per pixel. */
export interface DisplayData {
	/** Driver of the SDK. `registers` lets the SPI drivers serve other panels (GC9107, ST7796 …). Absent with `extends`. */
	readonly driver?: "ili9341" | "st7789" | "st7735" | "gc9a01" | "ili9341_p8" | "st7789_p8" | "co5300";
	/** Pixels, as the driver addresses them: before `rotation`. */
	readonly width: number;
	readonly height: number;
	/** Bus of ili9341, st7789, st7735 and gc9a01. `mode` is the SPI mode (default 0), `hz` the rate (default 40 MHz; st7735 27 MHz). */
	readonly spi?: { readonly data: number; readonly clock: number; readonly mode?: 0 | 1 | 2 | 3; readonly hz?: number };
	/** Bus of the `_p8` drivers: eight data pins from D0 to D7, the write and the read strobe. */
	readonly parallel?: { readonly data: readonly number[]; readonly write: number; readonly read?: number };
	/** Bus of co5300: four data pins from D0 to D3. */
	readonly qspi?: { readonly data: readonly number[]; readonly clock: number };
	/** Data or command. */
	readonly dc?: number;
	/** Chip select; absent where it is wired to ground. */
	readonly select?: number;
	readonly reset?: number;
	/** Dimmed by PWM. `true` with `extends`: the SDK's target defines `Host.Backlight`. */
	readonly backlight?: OutputPin | true;
	/** First visible column and row in the panel's memory. Default [0, 0]. */
	readonly offset?: readonly [column: number, row: number];
	/** Degrees by which the face is turned on the panel. Default 0. */
	readonly rotation?: 0 | 90 | 180 | 270;
	/** Whether the panel inverts colours, as most IPS panels do. Default: the driver's. */
	readonly invert?: boolean;
	/** Whether the subpixels are in the order blue, green, red. Default: the driver's. */
	readonly bgr?: boolean;
	/** Axes that the panel mirrors (MADCTL's MX and MY), and whether it swaps them (MV). */
	readonly mirror?: "x" | "y" | "xy";
	readonly swap?: boolean;
	/** Replaces the driver's whole initialization. At most 16 parameters per command: the SDK's driver has a buffer of 16 bytes. */
	readonly registers?: readonly PanelStep[];
}

/** A servo of a head: its number on the bus, its position at 0 degrees (steps of 0.3125°), and its range in degrees. */
export interface HeadServo {
	readonly id: number;
	readonly zero: number;
	readonly min: number;
	readonly max: number;
}

/**
 * A board as data. From it are made: the SDK's target, the parts that the firmware opens, the features that fit into the flash,
 * the check of pins, the virtual device's profile, the list of tools and the tables of docs/boards.md.
 */
export interface BoardData {
	/** Name for people: "LILYGO T-Display-S3". Default: the preset's name. */
	readonly title?: string;
	/** Origin of the pin numbers. */
	readonly source?: string;
	/**
	 * Target of the SDK that brings wiring, drivers and set-up: "m5dial". Members that it has already are `true`, or have only the
	 * options that the firmware needs; `pins` names the pins that they take. Of "m5stack_cores3", a board
	 * has the members of the preset, too.
	 */
	readonly extends?: string;
	/** Whether to keep the target's `setup-target`, which may switch supplies on, and opens parts. Default: if it has the backlight. */
	readonly setup?: boolean;
	/** Default with `extends`: that of the target. */
	readonly chip?: Chip;
	/** Default "4MB". From 8 MB on, every feature is built. */
	readonly flash?: "4MB" | "8MB" | "16MB";
	/** "quad" or "octal" is the width of its bus. Default: none. */
	readonly psram?: `${"2MB" | "4MB" | "8MB" | "16MB"} ${"quad" | "octal"}`;
	/** Bus of the board's own chips, `device.I2C.default`. */
	readonly i2c?: { readonly data: number; readonly clock: number };
	/** Levels of pins that power other parts, by number: they are set before all else. */
	readonly outputs?: Readonly<Record<number, 0 | 1>>;
	readonly display?: DisplayData;
	/** The touch screen is one large button, "screen". Driver: a class of the SDK in `embedded:sensor/Touch/`, in lower case. */
	readonly touch?:
		| true
		| {
				readonly driver?: "cst328" | "cst816" | "cst816s" | "ft3168" | "ft6x06" | "gt911";
				readonly address?: number;
				readonly interrupt?: number;
				readonly reset?: number;
				/** Separate bus of the touch screen. Default: that of the board. */
				readonly i2c?: { readonly data: number; readonly clock: number };
		  };
	/**
	 * A speaker on I2S (an amplifier, or a codec chip that I2C sets up), or on a pin with pulse density modulation. `enable` is high
	 * while it plays. `volume` is the initial one, in percent (default 70).
	 */
	readonly speaker?:
		| true
		| {
				readonly i2s?: I2sPins;
				readonly pdm?: number;
				readonly enable?: number;
				/** "aw88298" is an amplifier that the set-up of an SDK target has opened. */
				readonly codec?: "aw88298" | "es8311";
				readonly address?: number;
				readonly volume?: number;
		  };
	/**
	 * A microphone on I2S or with pulse density modulation. It is used on boards with PSRAM that have a speaker. `bits` is the width
	 * of a slot: 32 for INMP441, ICS-43434 and MSM261 (the default without a codec), 16 for a codec. `gain` multiplies samples.
	 * `channels` only with `extends`: what `openCodec` takes. The build sets `hasOwnPort`.
	 */
	readonly microphone?:
		| true
		| {
				readonly i2s?: I2sPins;
				readonly pdm?: { readonly clock: number; readonly data: number };
				readonly codec?: "es7210" | "es8311";
				readonly address?: number;
				readonly bits?: 16 | 32;
				readonly gain?: number;
				readonly channels?: 1 | 2;
				readonly hasOwnPort?: true;
		  };
	/** A camera. Pins are absent with `extends`. */
	readonly camera?: {
		/** Size of a photo. Default 640 by 480. */
		readonly width?: number;
		readonly height?: number;
		/** Whether it makes JPEG files, as OV2640, OV3660 and OV5640 do. Default true. */
		readonly makesJpeg?: boolean;
		/** Preset whose camera has the same pins: many boards have those of "esp32_s3_eye". */
		readonly pinsOf?: string;
		/** D0 to D7, which Espressif's tables call Y2 to Y9. */
		readonly data?: readonly number[];
		readonly xclk?: number;
		readonly pclk?: number;
		readonly href?: number;
		readonly vsync?: number;
		/** Its own control bus. */
		readonly sda?: number;
		readonly scl?: number;
		readonly powerDown?: number;
		readonly reset?: number;
	};
	/** Buttons by name, the main one first. A number: it connects the pin to ground. */
	readonly buttons?: Readonly<Record<string, number | { readonly pin: number; readonly activeHigh: boolean }>>;
	/** LEDs by name: WS2812 (`length` and `order` default to 1 and "GRB"), one on a pin, dimmed by PWM, or some of the expander "py32". */
	readonly leds?: Readonly<
		Record<
			string,
			| { readonly neopixel: number; readonly length?: number; readonly order?: string }
			| { readonly pin: number; readonly activeLow?: boolean }
			| { readonly py32: number }
		>
	>;
	/**
	 * Power chip with a battery, opened first. `registers` are written then: "2206 2710" sets 0x22 to 0x06 and 0x27 to 0x10.
	 * `backlight`: the screen's is one of its supplies. `isOpen`: an AXP2101 that the set-up of an SDK target has opened.
	 */
	readonly power?:
		| true
		| {
				readonly driver?: "axp192" | "axp2101";
				readonly registers?: string;
				readonly backlight?: boolean;
				readonly isOpen?: boolean;
		  };
	/** Accelerometer. `unit`: what the SDK's class reports. Default "m/s²". */
	readonly motion?:
		| true
		| {
				readonly driver?: "mpu6050" | "mpu6886" | "mpu9250" | "qmi8658" | "sh200q" | "bmi270";
				readonly address?: number;
				readonly unit?: "g" | "m/s²";
		  };
	/** Light sensor, which reports counts. */
	readonly light?: "ltr553als";
	/** Real-time clock, a class of the SDK in `embedded:RTC/`. */
	readonly rtc?: true | "bm8563" | "ds1307" | "ds3231" | "mcp7940" | "pcf85063" | "pcf8523" | "pcf8563" | "rv3028";
	/**
	 * Wired network of an ESP32 with a PHY on RMII, such as LAN8720 or IP101: the device connects by it instead of Wi-Fi. The PHY's
	 * clock of 50 MHz comes in at GPIO 0, the only pin that the SDK's driver knows. `power`: GPIO of the PHY's supply or oscillator.
	 */
	readonly ethernet?: {
		readonly address: number;
		readonly mdc: number;
		readonly mdio: number;
		readonly power?: number;
		readonly reset?: number;
	};
	/** I/O expander on the I2C bus, opened before all others. `outputs`: levels of its pins by number; others stay inputs. */
	readonly expander?: {
		readonly driver: "tca9554" | "pca9557" | "tca9555" | "pi4ioe5v6408" | "py32";
		readonly address?: number;
		readonly outputs: Readonly<Record<number, 0 | 1>>;
	};
	/**
	 * A head on two serial servos of the kind SCS0009, on UART 2 with these pins. Yaw is negative to the device's own left, pitch is
	 * positive upwards. A touch sensor on it is the button "head".
	 */
	readonly head?: {
		readonly transmit: number;
		readonly receive: number;
		readonly yaw: HeadServo;
		readonly pitch: HeadServo;
		readonly touch?: "si12t";
	};
	/** Other pins in use, by the part at them: { "SD card": [4] }. */
	readonly pins?: Readonly<Record<string, readonly number[]>>;
	/** Pins of parts that the firmware does not use. A project may. */
	readonly unusedPins?: Readonly<Record<string, readonly number[]>>;
	/** One sentence for docs/boards.md, about a limit of this board. */
	readonly note?: string;
}

/** The device's log and settings, which a board opens its parts with. */
export interface BoardServices extends Pick<Runtime, "log"> {
	readonly source: StoredSource;
}

/** A board whose parts are being opened. */
export interface OpeningBoard extends BoardServices {
	/** The members that the firmware needs at run time: the manifest's `config.board`. */
	readonly data: BoardData;
	/** The parts so far. */
	readonly board: Partial<Board>;
	/** The backlight that a power chip feeds. */
	backlight?: Backlight;
	/** Sets the machine's clock and the real-time clock, in seconds since 1970. */
	setTime: (seconds: number) => void;
}

/** Opens the parts that one member of a board's data describes: the default export of `drivers/open-MEMBER.ts`. */
export type OpenMember = (opening: OpeningBoard) => void;

/** The parts of a board that a virtual device simulates. */
export interface VirtualBoardProfile {
	/** Name of its folder in src/hardware/boards. */
	readonly name: string;
	/** Its parts, by their names in `Hardware`, without those below and those of every virtual device. */
	readonly parts: readonly string[];
	/** Whether its codec records while it plays. Default false. */
	readonly isFullDuplex?: boolean;
	/** Pixels; undefined without a screen. */
	readonly screen?: { readonly width: number; readonly height: number };
	/** Names of its buttons. The first one is the main button; a touch screen is one, too. */
	readonly buttons: readonly string[];
	readonly lights: readonly string[];
	/** Each has the name of its kind. */
	readonly sensors: readonly ("temperature" | "light" | "motion")[];
	/** Ranges of its head in degrees, if it has one. */
	readonly head?: Readonly<Record<"yaw" | "pitch", { readonly min: number; readonly max: number }>>;
}
