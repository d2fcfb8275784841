// The modules of Moddable's SDK that the firmware imports, with the members that it uses, so that it can be checked without
// the SDK. mcconfig takes the SDK's own typings instead.

/** A TCP socket (ECMA-419 §12). */
declare module "embedded:io/socket/tcp" {
	class TCP {
		constructor(options: object);
		/** A byte or a buffer, as the socket's format says. */
		read(count?: number): number | ArrayBuffer | undefined;
		write(data: number | ArrayBuffer): void;
		close(): void;
	}
	export default TCP;
}

/** Any other class of inputs and outputs, and of network interfaces and clients: those who use it know its instances. */
declare module "embedded:io/*" {
	const Class: new (options: object) => object;
	export default Class;
}
declare module "embedded:network/*" {
	const Class: new (options: object) => object;
	export default Class;
}

/** A digital pin (ECMA-419 §10.1). */
declare module "embedded:io/digital" {
	import type { DigitalClass } from "../hardware/drivers/button-digital.js";

	const Digital: DigitalClass;
	export default Digital;
}

/** A pin that is switched fast (ECMA-419 §10.4). */
declare module "embedded:io/pwm" {
	import type { PwmOutput } from "../hardware/drivers/light-pwm.js";

	const PWM: new (options: { pin: number }) => PwmOutput;
	export default PWM;
}

/** LEDs of the kind WS2812. */
declare module "neopixel" {
	import type { Pixels } from "../hardware/drivers/light-neopixel.js";

	const NeoPixel: new (options: { pin: number; length: number; order: string }) => Pixels;
	export default NeoPixel;
}

/** Listens for TCP connections (ECMA-419 §12). */
declare module "embedded:io/socket/listener" {
	class Listener {
		constructor(options: object);
		read(): object | undefined;
	}
	export default Listener;
}

/** ECMA-419's HTTP server. */
declare module "embedded:network/http/server" {
	import type { HttpServer } from "../protocols/http-server.js";

	const HTTPServer: new (options: object) => HttpServer;
	export default HTTPServer;
}

/** Service discovery by multicast DNS. */
declare module "embedded:network/dnssd" {
	import type { DnsSd } from "../features/discovery/gateway-search.js";

	class DNSSD implements DnsSd {
		constructor(options: { socket: { io: object } });
		claim(options: { host: string; onReady: () => void; onError: () => void }): object;
		advertise(options: object): object;
		discover: DnsSd["discover"];
		close(): void;
	}
	export default DNSSD;
}

/** The SDK's other Wi-Fi module, which can open an access point. */
declare module "wifi" {
	const WiFi: {
		readonly Mode: { readonly station: 1 };
		mode: 1;
		accessPoint(options: { ssid: string; password?: string }): void;
	};
	export default WiFi;
}

/** Makes QR codes. */
declare module "qrcode" {
	/** A byte for each module, row by row: 1 where it is dark. Throws if the text does not fit. */
	export default function qrCode(options: { input: string; maxVersion?: number }): ArrayBuffer & { size: number };
}

/** ECMA-419's Ethernet network interface. */
declare module "embedded:network/interface/ethernet" {
	import type { NetworkInterface } from "../hardware/drivers/interface-network.js";

	const Ethernet: new (options: { onChanged: () => void }) => NetworkInterface & { connect(): void };
	export default Ethernet;
}

/** The machine's counters, in a build with instrumentation. */
declare module "instrumentation" {
	const Instrumentation: {
		/** A counter's index; undefined in a build without instrumentation. */
		map(name: string): number | undefined;
		get(what: number | undefined): number | undefined;
	};
	export default Instrumentation;
}

/** The network connection. */
declare module "net" {
	const Net: {
		/** The address is undefined if the name could not be resolved. */
		resolve(host: string, callback: (host: string, address?: string) => void): void;
	};
	export default Net;
}

/** The modules of the firmware and of the mod that is installed. */
declare module "modules" {
	const Modules: {
		/** The names of the firmware's modules. */
		readonly host: string[];
		has(name: string): boolean;
		/** Runs a module, unless it was imported before, and returns its default export. */
		importNow(name: string): unknown;
	};
	export default Modules;
}

/** A file in the firmware's image, as a read-only buffer. */
declare module "Resource" {
	class Resource extends ArrayBuffer {
		static exists(name: string): boolean;
		/** Throws if the file does not exist. */
		constructor(name: string);
	}
	export default Resource;
}

/** Digests. */
declare module "crypt" {
	export class Digest {
		constructor(type: "SHA256");
		write(bytes: ArrayBuffer): void;
		close(): ArrayBuffer;
	}
}

/** Partitions of a chip's flash (ECMA-419). */
declare module "embedded:storage/flash" {
	export class Flash {
		status(): { readonly size: number };
		close(): void;
	}
	const flash: {
		/** Throws if the partition does not exist. */
		open(options: { readonly path: string }): Flash;
	};
	export default flash;
}

/** Stores firmware (ECMA-419). */
declare module "embedded:update" {
	import type { Flash } from "embedded:storage/flash";

	const update: {
		open(options: { readonly partition: Flash; readonly mode: "a" }): {
			write(bytes: ArrayBuffer): void;
			/** Checks the image, and makes the chip start it from the next restart on. */
			complete(): void;
			/** Discards the image unless it is complete. */
			close(): void;
		};
	};
	export default update;
}

/** Draws on a screen. */
declare module "commodetto/Poco" {
	import type { Canvas } from "../screen/brush.js";

	const Poco: new (screen: object, options: { displayListLength: number; rotation: 0 | 90 | 180 | 270 }) => Canvas;
	export default Poco;
}

/** Pixels, with their size and format. */
declare module "commodetto/Bitmap" {
	class Bitmap {
		/** The format of the screen. */
		static readonly Default: number;
		static readonly RGB565LE: number;
		constructor(width: number, height: number, format: number, pixels: ArrayBuffer, offset: number);
	}
	export default Bitmap;
}

/** Decompresses, piece by piece. */
declare module "inflate" {
	const Inflate: new () => object;
	export default Inflate;
}

/** Decodes JPEG files block by block. */
declare module "commodetto/readJPEG" {
	const JPEG: new () => object;
	export default JPEG;
}

/** A font in the format of BMFont. */
declare module "commodetto/parseBMF" {
	import type { Font } from "../screen/brush.js";

	export default function parseBMF(file: ArrayBuffer): Font;
}

/** The screen of the simulator. */
declare const screen: object;

/** The pins and buses of the target. */
declare const device: {
	readonly I2C: { readonly default: object };
	readonly io: { readonly SMBus: object };
};

/** A class with data of C, which the function of this name frees. Only to extend. */
declare function Native(destructor: string): new () => object;

/** A function of C, by its name. Only as the one thing that a method returns. */
declare function native(name: string): { call(self: unknown, ...args: unknown[]): unknown };
