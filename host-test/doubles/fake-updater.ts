import type { FirmwareSink, Updater } from "../../src/hardware/updater.js";

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
