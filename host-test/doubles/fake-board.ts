import { expectOk } from "../../src/features/http.js";
import type {
	Board,
	Face,
	HttpRequest,
	HttpResponse,
	Settings,
	SettingValue,
	Theme,
} from "../../src/hardware/hardware.js";
import type { Button, Press } from "../../src/hardware/kinds/button.js";
import type { Light } from "../../src/hardware/kinds/light.js";
import type { Reading, Sensor } from "../../src/hardware/kinds/sensor.js";
import { type ByteSource, heldBytes, type PictureSink, readWhole } from "../../src/hardware/pictures.js";
import type {
	AudioParams,
	Codec,
	OnRecorded,
	Player,
	Sound,
	SoundFiles,
	SoundReader,
} from "../../src/hardware/sound.js";
import type { FirmwareSink, FirmwareSource, UpdateProgress, Updater } from "../../src/hardware/updater.js";

export class FakeSettings implements Settings {
	readonly values = new Map<string, SettingValue>();

	get(domain: string, key: string): SettingValue | undefined {
		return this.values.get(`${domain}/${key}`);
	}

	set(domain: string, key: string, value: SettingValue): boolean {
		this.values.set(`${domain}/${key}`, value);
		return true;
	}

	delete(domain: string, key: string): void {
		this.values.delete(`${domain}/${key}`);
	}
}

export class FakeBoard implements Board {
	readonly name = "fake";
	readonly settings: FakeSettings;
	readonly shown: Partial<Face>[] = [];
	readonly requests: HttpRequest[] = [];
	readonly restarts: number[] = [];
	readonly resets: string[] = [];
	readonly bodies: string[] = [];
	readonly pictures: string[] = [];
	cancelled = 0;
	open = 0;
	readonly snapshots: number[] = [];
	response: HttpResponse = { status: 200, body: new ArrayBuffer(0) };
	upgradeFails = false;
	readonly speaker = { volume: 70 };
	readonly player = new FakePlayer();
	readonly screen = {
		width: 320,
		height: 240,
		monochrome: false,
		brightness: 75,
		theme: "light" as Theme,
		show: (change: Partial<Face>): void => {
			this.shown.push(change);
		},
	};
	readonly snapshot = {
		take: async (quality: number): Promise<ByteSource> => {
			this.snapshots.push(quality);
			return this.#picture("SCREEN");
		},
	};
	readonly preview = {
		begin: (): PictureSink => {
			let text = "";
			return {
				write: (piece) => {
					text += String.fromArrayBuffer(piece);
				},
				end: async () => {
					this.pictures.push(text);
				},
				cancel: () => {
					this.cancelled += 1;
				},
			};
		},
	};
	readonly camera = { capture: async (): Promise<ByteSource> => this.#picture("PHOTO") };
	readonly battery = { level: 88, charging: true };
	readonly network = {
		type: "wifi" as const,
		ssid: "home",
		rssi: -60,
		online: true,
		onChange: undefined as (() => void) | undefined,
	};
	readonly thermometer = { temperature: 41.5 };
	readonly system = {
		macAddress: "02:00:00:00:00:01",
		info: () => ({ flash_size: 4_194_304 }),
		restart: (delay: number): void => {
			this.restarts.push(delay);
		},
		factoryReset: (): void => {
			this.resets.push("reset");
		},
	};
	readonly installed: FirmwareSource[] = [];
	readonly installer = {
		install: async (source: FirmwareSource, onProgress?: UpdateProgress): Promise<void> => {
			this.installed.push(source);
			onProgress?.(1, 2);
			if (this.upgradeFails) {
				throw new Error("no such firmware");
			}
		},
	};
	readonly http = {
		request: async (request: HttpRequest): Promise<HttpResponse> => {
			this.requests.push(request);
			let body = "";
			for (const part of request.body ?? []) {
				body += String.fromArrayBuffer(part instanceof ArrayBuffer ? part : await readWhole(part, 1_000));
			}
			this.bodies.push(body);
			if (request.onPiece !== undefined && this.response.status === 200) {
				await request.onPiece(this.response.body, this.response.body.byteLength);
			}
			return expectOk(this.response, request);
		},
	};

	constructor(settings = new FakeSettings()) {
		this.settings = settings;
	}

	#picture(text: string): ByteSource {
		this.open += 1;
		let isOpen = true;
		return heldBytes(new Uint8Array(ArrayBuffer.fromString(text)), () => {
			this.open -= isOpen ? 1 : 0;
			isOpen = false;
		});
	}
}

export class FakeSensor implements Sensor {
	readonly kind = "temperature";
	readonly unit = "°C";
	onChange: ((reading: Reading) => void) | undefined;
	reading: Reading | Error;

	constructor(reading: Reading | Error) {
		this.reading = reading;
	}

	read(): Reading {
		if (this.reading instanceof Error) {
			throw this.reading;
		}
		return this.reading;
	}
}

class FakeButton implements Button {
	onPress: ((press: Press) => void) | undefined;

	press(long = false): void {
		this.onPress?.({ long, milliseconds: long ? 2_000 : 120 });
	}
}

export function boardWithParts() {
	const lamp: Light = { on: false, brightness: 50, color: 0xffffff };
	const lights = { lamp, led: { on: false } as Light };
	const sensors = { room: new FakeSensor(21.5), chip: new FakeSensor({ x: 1, y: 2 }) };
	const buttons = { boot: new FakeButton(), side: new FakeButton() };
	return Object.assign(new FakeBoard(), { lights, sensors, buttons } satisfies Partial<Board>);
}

export class FakeSound implements Sound {
	readonly sampleRate: number;
	readonly pieces: Uint8Array[] = [];
	state: "open" | "ended" | "stopped" = "open";
	hasRoom = true;
	#waiting: { resolve(): void; reject(error: Error): void } | undefined;

	constructor(sampleRate: number) {
		this.sampleRate = sampleRate;
	}

	/** Byte by byte: pieces as arguments would fill the stack of XS. */
	get bytes(): number[] {
		const bytes: number[] = [];
		for (const piece of this.pieces) {
			for (const byte of piece) {
				bytes.push(byte);
			}
		}
		return bytes;
	}

	async write(samples: Uint8Array): Promise<void> {
		this.pieces.push(samples.slice());
		if (!this.hasRoom) {
			await new Promise<void>((resolve, reject) => {
				this.#waiting = { resolve, reject };
			});
		}
	}

	async end(): Promise<void> {
		this.state = "ended";
	}

	stop(): void {
		this.state = "stopped";
		this.#waiting?.reject(new Error("the sound was stopped"));
	}

	drain(): void {
		this.#waiting?.resolve();
	}
}

export class FakePlayer implements Player {
	readonly sounds: FakeSound[] = [];
	files: SoundFiles | undefined;
	openReader: (() => SoundReader) | undefined;
	isHeld = false;
	hasRoom = true;

	get isPlaying(): boolean {
		return this.sounds.some(({ state }) => state === "open");
	}

	begin(sampleRate: number): FakeSound {
		const sound = new FakeSound(sampleRate);
		sound.hasRoom = this.hasRoom;
		this.sounds.push(sound);
		return sound;
	}

	stop(): void {
		for (const sound of this.sounds) {
			sound.stop();
		}
	}
}

export class FakeCodec implements Codec {
	readonly params = { format: "opus", sample_rate: 16_000, channels: 1, frame_duration: 60 };
	/** "begin 24000", "play 3", "end", "stop", "record", "stop recording". */
	readonly calls: string[] = [];
	muted = false;
	isFullDuplex = true;
	failure: Error | undefined;
	isFull = false;
	/** Timestamps of what is played, and the one that the next recorded packet has. */
	readonly timestamps: number[] = [];
	echo = 0;
	#onPacket: OnRecorded | undefined;
	#ended: { resolve(): void; reject(error: Error): void } | undefined;

	begin({ sample_rate: rate, frame_duration: duration }: AudioParams): void {
		this.calls.push(`begin ${rate} ${duration}`);
	}

	play(packet: Uint8Array, timestamp: number): boolean {
		if (this.failure !== undefined) {
			throw this.failure;
		}
		if (this.isFull) {
			return false;
		}
		this.timestamps.push(timestamp);
		this.calls.push(`play ${[...packet].join()}`);
		return true;
	}

	end(): Promise<void> {
		this.calls.push("end");
		return new Promise((resolve, reject) => {
			this.#ended = { resolve, reject };
		});
	}

	stop(): void {
		this.calls.push("stop");
		this.#ended?.resolve();
	}

	record(onPacket: OnRecorded | undefined): void {
		if (onPacket !== undefined && this.failure !== undefined) {
			throw this.failure;
		}
		this.calls.push(onPacket === undefined ? "stop recording" : "record");
		this.#onPacket = onPacket;
	}

	played(error?: Error): void {
		error === undefined ? this.#ended?.resolve() : this.#ended?.reject(error);
	}

	recorded(...packet: readonly number[]): void {
		this.#onPacket?.(Uint8Array.from(packet), this.echo);
	}
}

export class FakeUpdater implements Updater {
	capacity = 1_000;
	isOnTrial = false;
	digest = new Uint8Array(32).fill(0xab).buffer;
	isSigned = (_key: ArrayBuffer): boolean => true;
	fault = "";
	readonly events: string[] = [];
	readonly anyProject: (boolean | undefined)[] = [];
	readonly signatures: ArrayBuffer[] = [];
	readonly versions: string[] = [];
	#image = "";

	begin({ anyProject }: Parameters<Updater["begin"]>[0]): FirmwareSink {
		this.anyProject.push(anyProject);
		this.events.push("begin");
		this.#image = "";
		return {
			write: (piece) => {
				const text = String.fromArrayBuffer(piece);
				if (this.#image === "" && !text.startsWith("F")) {
					throw new Error("this is no firmware image");
				}
				this.#image += text;
			},
			digest: async () => this.digest,
			isSigned: async (key, signature, version) => {
				this.versions.push(String.fromArrayBuffer(version));
				this.signatures.push(signature);
				return this.isSigned(key);
			},
			finish: async () => {
				if (this.fault !== "") {
					throw new Error(this.fault);
				}
				this.events.push(`finish ${this.#image}`);
			},
			cancel: () => this.events.push("cancel"),
		};
	}

	confirm(): void {
		this.isOnTrial = false;
		this.events.push("confirm");
	}

	rollBack(): void {
		this.events.push("rollBack");
	}
}
