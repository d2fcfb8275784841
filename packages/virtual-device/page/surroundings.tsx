import { signal } from "@preact/signals";
import { MICROPHONE, type ShownDevice } from "../src/page-messages.js";
import { Button, Range, type RangeProps } from "./inputs.js";
import { act, failure, isConnected, lines, sendBytes, sendPhoto, sounds } from "./link.js";
import recorderUrl from "./recorder.worklet.js";
import { isSilenced, unsilence } from "./speaker.js";

/** Sliders of sensors that measure a number, and their values at rest. */
const SLIDERS = {
	temperature: { label: "Temperature", unit: "°C", minimum: -20, maximum: 60, step: 0.5, rest: 21.5 },
	light: { label: "Light", unit: "lx", minimum: 0, maximum: 2_000, step: 10, rest: 320 },
};

const MOTION_AT_REST = { x: 0, y: 0, z: 9.81 };

interface ShownProps {
	readonly shown: ShownDevice;
}

/** Sensors, battery and Wi-Fi. */
export function Surroundings({ shown: { board, readings, battery, signal } }: ShownProps) {
	const motion = { ...MOTION_AT_REST, ...(readings.motion as object | undefined) };
	const hasBattery = board.parts.includes("battery");
	const ranges: RangeProps[] = [];
	for (const sensor of ["temperature", "light"] as const) {
		if (board.sensors.includes(sensor)) {
			const { rest, ...range } = SLIDERS[sensor];
			const value = (readings[sensor] as number | undefined) ?? rest;
			ranges.push({ ...range, value, onChange: (next) => act("measure", { [sensor]: next }) });
		}
	}
	for (const axis of board.sensors.includes("motion") ? (["x", "y", "z"] as const) : []) {
		const range = { label: `Motion ${axis}`, unit: "m/s²", minimum: -20, maximum: 20, step: 0.01 };
		const measure = (value: number): void => act("measure", { motion: { ...motion, [axis]: value } });
		ranges.push({ ...range, value: motion[axis], onChange: measure });
	}
	const wifi = { label: "Wi-Fi", unit: "dBm", minimum: -100, maximum: -30, value: signal };
	ranges.push({ ...wifi, onChange: (value) => act("signal", value) });
	if (hasBattery) {
		const charge = { label: "Battery", unit: "%", minimum: 0, maximum: 100, value: battery.level };
		ranges.push({ ...charge, onChange: (level) => act("battery", { ...battery, level }) });
	}
	return (
		<section class="card">
			<h2>Surroundings</h2>
			{ranges.map((range) => (
				<Range key={range.label} {...range} />
			))}
			{hasBattery && (
				<label>
					<input
						type="checkbox"
						checked={battery.charging}
						onChange={({ currentTarget }) => act("battery", { ...battery, charging: currentTarget.checked })}
					/>
					Charging
				</label>
			)}
			<p class="text-light small">The firmware reads {hasBattery && "battery and "}Wi-Fi every 30 s.</p>
		</section>
	);
}

/** Controls for network faults and restarts. */
export function Faults({ shown: { network } }: ShownProps) {
	const toggle = (text: string, name: "lost" | "silent") => (
		<Button
			text={text}
			isPressed={network[name]}
			onClick={() => act("network", { ...network, [name]: !network[name] })}
		/>
	);
	return (
		<section class="card">
			<h2>Faults</h2>
			<div class="hstack">
				{toggle("Network lost", "lost")}
				{toggle("Backend silent", "silent")}
				<Button text="Restart" onClick={() => act("restart")} />
				<Button text="Brown-out" onClick={() => act("brownOut")} />
			</div>
			<Range
				label="Late by"
				unit="ms"
				minimum={0}
				maximum={5_000}
				step={100}
				value={network.delay}
				onChange={(delay) => act("network", { ...network, delay })}
			/>
		</section>
	);
}

/** Prefix of notes with the assistant's answer, or with the reason why there is none. */
const ANSWER = "assistant: ";

/** Speech, camera and sounds. */
export function Senses({ shown }: ShownProps) {
	const say = (event: SubmitEvent): void => {
		event.preventDefault();
		const form = event.currentTarget as HTMLFormElement;
		const input = form.elements.namedItem("text") as HTMLInputElement;
		if (input.value.trim() !== "") {
			act("say", input.value);
			input.value = "";
		}
	};
	const { parts } = shown.board;
	const answer = lines.value.filter(({ kind, text }) => kind === "note" && text.startsWith(ANSWER)).at(-1);
	return (
		<section class="card">
			<h2>Say, show, hear</h2>
			<form class="hstack say" onSubmit={say}>
				<input name="text" aria-label="Say to the assistant" placeholder="Say to the assistant …" maxLength={200} />
				<button type="submit" class="outline" disabled={!isConnected.value}>
					Say
				</button>
			</form>
			{answer !== undefined && <p role="status">{answer.text.slice(ANSWER.length)}</p>}
			{parts.includes("camera") && (
				<label class="hstack">
					<span>The camera sees</span>
					<input
						type="file"
						accept="image/*"
						onChange={({ currentTarget }) => void showFile(currentTarget.files?.[0])}
					/>
				</label>
			)}
			{parts.includes("codec") && (
				<>
					<div class="hstack">
						<Button
							text={isMicrophoneOn.value ? "Microphone on" : "Microphone off"}
							isPressed={isMicrophoneOn.value}
							onClick={() => void toggleMicrophone()}
						/>
						{isSilenced.value && <Button text="Let me hear it" onClick={unsilence} />}
					</div>
					<p class="text-light small">
						Press a button of the device to talk: it hears your microphone while it listens.
					</p>
				</>
			)}
			{parts.includes("player") && sounds.value.length === 0 && <p class="text-light small">Nothing was played yet.</p>}
			{sounds.value.map(({ id, url }, index) => (
				// biome-ignore lint/a11y/useMediaCaption: no captions of the device's sounds exist
				<audio key={id} controls src={url} aria-label={index === 0 ? "Last sound" : "Sound before"} />
			))}
		</section>
	);
}

/** Pixels of a photo's longer side. */
const PHOTO_SIZE = 640;

/** Sends a picture to the camera, as a JPEG file of a moderate size, from any format that the browser can read. */
async function showFile(file: File | undefined): Promise<void> {
	if (file === undefined) {
		return;
	}
	const bitmap = await createImageBitmap(file);
	const scale = Math.min(1, PHOTO_SIZE / Math.max(bitmap.width, bitmap.height));
	const canvas = document.createElement("canvas");
	canvas.width = Math.max(1, Math.round(bitmap.width * scale));
	canvas.height = Math.max(1, Math.round(bitmap.height * scale));
	canvas.getContext("2d")?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
	canvas.toBlob((blob) => blob !== null && sendPhoto(blob), "image/jpeg", 0.85);
}

/** Sample rate of the device's microphone, in hertz. */
const RATE = 16_000;

/** Whether the person's microphone is the device's. */
const isMicrophoneOn = signal(false);

let stop = (): void => {};

/** Switches the person's microphone on, with their consent, or off. */
async function toggleMicrophone(): Promise<void> {
	if (isMicrophoneOn.value) {
		stop();
		return;
	}
	try {
		stop = await record();
		isMicrophoneOn.value = true;
	} catch (error) {
		failure.value = `microphone: ${(error as Error).message}`;
	}
}

/** Starts to record. Resolves with a function that stops it. Rejects without the person's consent or a microphone. */
async function record(): Promise<() => void> {
	// The device does not speak while it listens, so there is no echo, and a recognizer wants the sound as it is.
	const audio = { echoCancellation: false, noiseSuppression: false };
	const stream = await navigator.mediaDevices.getUserMedia({ audio });
	const context = new AudioContext({ sampleRate: RATE });
	const end = (): void => {
		for (const track of stream.getTracks()) {
			track.stop();
		}
		void context.close();
		isMicrophoneOn.value = false;
		sendBytes(Uint8Array.from(MICROPHONE));
	};
	try {
		await context.audioWorklet.addModule(recorderUrl);
		const recorder = new AudioWorkletNode(context, "recorder", { numberOfOutputs: 0 });
		recorder.port.onmessage = ({ data }: MessageEvent<Int16Array<ArrayBuffer>>) =>
			sendBytes(Uint8Array.of(...MICROPHONE, ...new Uint8Array(data.buffer)));
		context.createMediaStreamSource(stream).connect(recorder);
	} catch (error) {
		end();
		throw error;
	}
	// It was unplugged, or the person has withdrawn the consent.
	stream.getTracks()[0]?.addEventListener("ended", end);
	return end;
}
