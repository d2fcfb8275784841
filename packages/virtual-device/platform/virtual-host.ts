import { toHex } from "src/core/text/hex";
import type { ByteSource, PictureSink } from "src/hardware/pictures";
import { boot, call, receive, send } from "./bridge.js";

export { AudioIn, AudioOut, OpusThread } from "./audio.js";

export const options = { macAddress: boot.macAddress, resetReason: boot.resetReason, board: boot.board };

export function tell(kind: string, ...args: unknown[]): void {
	send([`board.${kind}`, ...args]);
}

export function on(kind: string, callback: (...args: never[]) => void): void {
	receive(`board.${kind}`, (args) => callback(...(args as never[])));
}

export async function capture(): Promise<ByteSource> {
	return await takenPicture("capture");
}

export async function drawScreen(screen: object, quality: number): Promise<ByteSource> {
	return await takenPicture("drawScreen", { ...screen, quality });
}

/** Node has the picture, and sends it piece by piece. */
async function takenPicture(service: string, argument?: unknown): Promise<ByteSource> {
	const { id, byteLength } = (await call(service, argument)).value as { id: number; byteLength: number };
	return {
		byteLength,
		read: async (count) => (await call("readPicture", { id, count })).bytes,
		close: () => tell("pictureClosed", id),
	};
}

let lastPreview = 0;

export function beginPicture(): PictureSink {
	lastPreview += 1;
	const id = lastPreview;
	return {
		write: (piece) => send(["board.pictureBytes", id], piece),
		end: async () => {
			await call("showPicture", id);
		},
		cancel: () => tell("pictureCancelled", id),
	};
}

export const firmware = {
	capacity: boot.firmware.capacity,
	isOnTrial: boot.firmware.isOnTrial,
	begin: (): void => tell("firmware", "begin"),
	write: (piece: ArrayBuffer): void => send(["board.firmware", "write"], piece),
	digest: async (): Promise<ArrayBuffer> => (await call("firmwareDigest")).bytes,
	finish: async (): Promise<void> => void (await call("firmwareFinish")),
	cancel: (): void => tell("firmware", "cancel"),
	confirm: (): void => tell("firmware", "confirm"),
	rollBack: (): void => tell("firmware", "rollBack"),
	isSigned: async (key: ArrayBuffer, signature: ArrayBuffer, version: ArrayBuffer): Promise<boolean> =>
		(await call("isSigned", `${toHex(signature)} ${toHex(version)}`, key)).value === true,
};
