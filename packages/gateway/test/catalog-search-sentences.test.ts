import assert from "node:assert/strict";
import { it } from "node:test";
import { callTool, connectClient, startGateway, WireDevice } from "../testing/gateway.js";

const tool = (name: string, description: string, names: readonly string[] = []) => ({
	name,
	description,
	inputSchema: {
		type: "object",
		properties: names.length > 0 ? { name: { type: "string", enum: names } } : {},
	},
});

const STATUS = tool("self.get_device_status", "Read the device's current state. Use it before changing anything.");
const VOLUME = tool("self.audio_speaker.set_volume", "Set the volume of the audio speaker.");
const switches = (...names: string[]) => tool("self.switch.set", "Turn a switch on or off.", names);
const sensors = (...names: string[]) => tool("self.sensor.read", "Read one sensor of the device, or all.", names);

const DEVICES: Readonly<Record<string, { tags: string[]; tools: object[] }>> = {
	bedroom_blinds: { tags: ["bedroom", "upstairs"], tools: [tool("self.blinds.set_position", "Move the blinds.")] },
	front_door: { tags: ["hall"], tools: [tool("self.lock.set", "Lock or unlock the door."), sensors("door contact")] },
	greenhouse: { tags: ["garden"], tools: [switches("pump", "grow light"), sensors("soil moisture", "air")] },
	cat_feeder: { tags: ["kitchen"], tools: [tool("self.feeder.dispense", "Dispense portions of food."), VOLUME] },
	thermostat: { tags: ["living_room"], tools: [tool("self.climate.set_target", "Set the target temperature.")] },
	ceiling_fan: { tags: ["bedroom"], tools: [tool("self.fan.set_speed", "Set the speed of the fan.")] },
	robot: {
		tags: ["living_room"],
		tools: [tool("self.vacuum.start", "Start cleaning."), tool("self.vacuum.dock", "Return to the dock.")],
	},
	lawn: {
		tags: ["garden"],
		tools: [tool("self.sprinkler.water", "Water a zone for some minutes.", ["front", "back"])],
	},
	doorbell: {
		tags: ["hall"],
		tools: [
			tool("self.camera.take_photo", "Take a photo and have it explained."),
			tool("self.audio_speaker.chime", "Play a short chime."),
		],
	},
	aquarium: { tags: ["living_room"], tools: [switches("filter", "heater"), sensors("water temperature")] },
	garage: { tags: ["garage"], tools: [tool("self.garage_door.move", "Open or close the garage door.")] },
	purifier: {
		tags: ["office"],
		tools: [tool("self.air_purifier.set_mode", "Choose how the air is cleaned.", ["quiet", "auto", "turbo"])],
	},
	kitchen_scale: {
		tags: ["kitchen"],
		tools: [tool("self.scale.weigh", "Weigh what is on the scale."), tool("self.scale.tare", "Set the scale to zero.")],
	},
	printer: {
		tags: ["office"],
		tools: [
			tool("self.printer.pause", "Pause the print."),
			tool("self.printer.progress", "Read the progress of the print."),
		],
	},
	coffee: { tags: ["kitchen"], tools: [tool("self.coffee.brew", "Brew a cup of coffee.", ["espresso", "lungo"])] },
	desk: {
		tags: ["office"],
		tools: [tool("self.desk.set_height", "Move the desk to a height in centimetres."), switches("desk lamp")],
	},
	badge: { tags: ["office"], tools: [tool("self.screen.show_text", "Show text on the e-paper.")] },
	alarm: {
		tags: ["hall", "upstairs"],
		tools: [tool("self.siren.sound", "Sound the siren for some seconds."), tool("self.alarm.arm", "Arm the alarm.")],
	},
	mailbox: { tags: ["garden"], tools: [sensors("letters")] },
	speaker: { tags: ["kitchen"], tools: [VOLUME, tool("self.audio_speaker.play", "Play a sound from a URL.")] },
};

/** A sentence, the device and tool that it is about, and the second query of a model that has read the directory. */
type Sentence = readonly [sentence: string, device: string, tool: string, second: string];

/** Written before the search, and not tuned. The words of a second query are those that the directory has. */
const SENTENCES: readonly Sentence[] = [
	["close the blinds in the bedroom halfway", "bedroom_blinds", "blinds_set_position", "blinds"],
	["is the front door locked? if not, lock it", "front_door", "lock_set", "lock front_door"],
	["the tomatoes look thirsty, give them water", "greenhouse", "switch_set", "greenhouse pump"],
	["feed the cat", "cat_feeder", "feeder_dispense", "feeder dispense"],
	["I'm chilly, make it two degrees warmer", "thermostat", "climate_set_target", "climate thermostat"],
	["get some breeze going in here", "ceiling_fan", "fan_set_speed", "fan speed"],
	["clean up the crumbs on the carpet", "robot", "vacuum_start", "vacuum start"],
	["did the postman bring anything?", "mailbox", "sensor_read", "letters mailbox"],
	["把卧室的百叶窗放下来", "bedroom_blinds", "blinds_set_position", "bedroom blinds"],
	["给猫喂点吃的", "cat_feeder", "feeder_dispense", "cat_feeder feeder"],
	["打开车库门", "garage", "garage_door_move", "garage_door"],
	["鱼缸的水温是多少", "aquarium", "sensor_read", "water temperature aquarium"],
	["给草坪浇十分钟水", "lawn", "sprinkler_water", "sprinkler lawn"],
	["3D打印还要多久", "printer", "printer_progress", "printer progress"],
	["玄関の鍵をかけて", "front_door", "lock_set", "front_door lock"],
	["コーヒーを一杯いれて", "coffee", "coffee_brew", "coffee brew"],
	["空気清浄機を静かにして", "purifier", "air_purifier_set_mode", "air_purifier quiet"],
	["机を立って使える高さにして", "desk", "desk_set_height", "desk set_height"],
	["誰がベルを鳴らしたか見せて", "doorbell", "camera_take_photo", "doorbell camera"],
	["Mach das Rollo im Schlafzimmer zu", "bedroom_blinds", "blinds_set_position", "blinds bedroom"],
	["Wie viel wiegt der Teig?", "kitchen_scale", "scale_weigh", "scale weigh"],
	["Schick den Staubsauger zurück zur Ladestation", "robot", "vacuum_dock", "vacuum dock"],
	["Schalte die Sirene für fünf Sekunden ein", "alarm", "siren_sound", "siren"],
	["Stell die Lüftung im Büro auf leise", "purifier", "air_purifier_set_mode", "office air_purifier quiet"],
];

/** Characters of a directory: about 400 tokens. */
const MAX_DIRECTORY = 1_700;

it("tools_search by a sentence among twenty kinds of devices finds the tool at once, or by words of the directory that it answers with", async (t) => {
	const aliases = Object.keys(DEVICES);
	const ids = aliases.map((_, index) => `aa:bb:cc:00:01:${index.toString(16).padStart(2, "0")}`);
	const gateway = await startGateway(t, {
		catalog: "search",
		aliases: new Map(ids.map((id, index) => [id, aliases[index] as string])),
	});
	await Promise.all(
		Object.values(DEVICES).map(({ tools }, at) =>
			WireDevice.connect(t, gateway, { id: ids[at] as string, tools: [STATUS, ...tools] as never, board: "esp32" }),
		),
	);
	for (const [at, { tags }] of Object.values(DEVICES).entries()) {
		await gateway.gateway.servers.edit(aliases[at] as string, { tags });
	}
	const client = await connectClient(t, gateway.clientUrl(), "2025-11-25");
	const missed: string[] = [];
	for (const [sentence, device, name, second] of SENTENCES) {
		const expected = new RegExp(`^${device}__self_${name}$|^self_${name}$`);
		const find = async (query: string) => {
			const { structuredContent, content } = await callTool(client, "tools_search", { query });
			return {
				found: structuredContent.tools.some((each: { name: string }) => expected.test(each.name)),
				directory: structuredContent.directory,
				text: content[0].text as string,
			};
		};
		const first = await find(sentence);
		if (!first.found) {
			const words = JSON.stringify(first.directory ?? {});
			assert.ok(words.length <= MAX_DIRECTORY, `${words.length} characters`);
			const isRead = second.split(" ").every((word) => words.includes(word) && first.text.includes(word));
			if (!isRead || !(await find(second)).found) {
				missed.push(`${sentence}: ${isRead ? "not found by" : "no directory with"} ${second}`);
			}
		}
	}
	t.diagnostic(`${SENTENCES.length - missed.length} of ${SENTENCES.length}`);
	assert.ok(SENTENCES.length - missed.length >= 22, missed.join("\n"));
});
