import { signal } from "@preact/signals";
import type { FlashImage } from "../../../src/devices/firmware/flash-images.js";
import type { ImprovClient, ImprovError } from "../flash/improv-client.js";
import { t } from "../texts/index.js";
import { ask } from "./api.js";

/** How far a board is. */
export type Stage =
	| { readonly step: "choose" | "connecting" | "waiting" | "scanning" | "joining" }
	| { readonly step: "writing"; readonly share: number }
	| { readonly step: "networks"; readonly ssids: readonly string[]; readonly problem?: string }
	/** @see ImprovClient.join */
	| { readonly step: "joined"; readonly url: string }
	| { readonly step: "failed"; readonly text: string };

/** Lines of the loader's log that are kept. */
const MAX_LOG = 200;

export const stage = signal<Stage>({ step: "choose" });
export const flashLog = signal<readonly string[]>([]);

/** Whether this browser reaches serial ports: Chromium, and from this machine or over TLS only. */
export const hasSerial = "serial" in navigator;

let board: ImprovClient | undefined;

/** Flashes a board that the person chooses, and goes on with its Wi-Fi. Never rejects. */
export async function flash(image: FlashImage, erase: boolean): Promise<void> {
	await withPort(async (port) => {
		flashLog.value = [];
		stage.value = { step: "connecting" };
		const { writeImage } = await import("../flash/write-image.js");
		await writeImage(port, {
			erase,
			partsFor: (chip) => partsFor(image, chip),
			onProgress: (share) => {
				stage.value = { step: "writing", share };
			},
			onLog: (line) => {
				flashLog.value = [...flashLog.value, line].slice(-MAX_LOG);
			},
		});
		await findNetworks(port);
	});
}

/** Sets up the Wi-Fi of a board that has the firmware. Never rejects. */
export async function setUpWifi(): Promise<void> {
	await withPort(findNetworks);
}

/** Has the board join a network. Never rejects. */
export async function joinNetwork(ssid: string, password: string): Promise<void> {
	const before = stage.value;
	stage.value = { step: "joining" };
	try {
		const url = (await board?.join(ssid, password)) ?? "";
		stage.value = { step: "joined", url };
		await endFlashing();
	} catch (error) {
		const ssids = before.step === "networks" ? before.ssids : [];
		stage.value = { step: "networks", ssids, problem: textOf(error) };
	}
}

/** Lets go of the port. */
export async function endFlashing(): Promise<void> {
	const ending = board;
	board = undefined;
	await ending?.close();
}

async function withPort(use: (port: SerialPort) => Promise<void>): Promise<void> {
	let port: SerialPort;
	try {
		await endFlashing();
		port = await navigator.serial.requestPort();
	} catch {
		// The person has chosen none.
		return;
	}
	try {
		await use(port);
	} catch (error) {
		await endFlashing();
		stage.value = { step: "failed", text: textOf(error) };
	}
}

async function findNetworks(port: SerialPort): Promise<void> {
	stage.value = { step: "waiting" };
	const { ImprovClient } = await import("../flash/improv-client.js");
	board = new ImprovClient(port);
	await board.open();
	stage.value = { step: "scanning" };
	stage.value = { step: "networks", ssids: await board.networks() };
}

/** Why something failed, in words. */
function textOf(error: unknown): string {
	const { code, message } = error as Partial<ImprovError> & Error;
	return code === undefined || !IMPROV_CODES.has(code) ? message : t(`improv_${code}`);
}

const IMPROV_CODES: ReadonlySet<string> = new Set(["invalid", "unknownCommand", "notJoined", "noAnswer", "other"]);

async function partsFor(image: FlashImage, chip: string) {
	const build = image.builds.find(({ chipFamily }) => chipFamily === chip);
	if (build === undefined) {
		const others = image.builds.map(({ chipFamily }) => chipFamily).join(", ");
		throw new Error(t("wrongChip", { chip, others }));
	}
	return await Promise.all(
		build.parts.map(async ({ path, offset }) => ({ offset, data: await read(image.board, path) })),
	);
}

async function read(name: string, file: string): Promise<Uint8Array> {
	const path = `console/firmware/${encodeURIComponent(name)}/${encodeURIComponent(file)}`;
	const response = await fetch(path);
	if (!response.ok) {
		throw new Error(`${file}: ${response.status} ${response.statusText}`);
	}
	return new Uint8Array(await response.arrayBuffer());
}

/** The images that the gateway has. Rejects with ApiError. */
export async function readImages(): Promise<readonly FlashImage[]> {
	return (await ask<{ images: readonly FlashImage[] }>("console/firmware")).images;
}
