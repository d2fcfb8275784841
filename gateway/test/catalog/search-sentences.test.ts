import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { searchTools } from "../../src/catalog/tool-search.js";
import { LOCAL, startGateway, WireDevice } from "../support/gateway.js";

const tool = (name: string, description: string) => ({ name, description, inputSchema: { type: "object" } });

const STATUS = tool(
	"self.get_device_status",
	"Read the device's current state: volume of the audio speaker, brightness and theme of the screen, battery, network, chip " +
		"temperature, lights, sensors.\nUse it to answer questions about the device, and as the first step before changing " +
		"anything, such as turning the volume up.",
);
const VOLUME = tool("self.audio_speaker.set_volume", "Set the volume of the audio speaker.");
const CHIME = tool("self.audio_speaker.chime", "Play a short chime, to get the attention of people nearby.");
const PLAY = tool("self.audio_speaker.play", "Play a sound on the speaker: a WAV file (PCM) from a URL.");
const BRIGHTNESS = tool("self.screen.set_brightness", "Set the brightness of the screen.");
const THEME = tool("self.screen.set_theme", "Set the theme of the screen.");
const PHOTO = tool(
	"self.camera.take_photo",
	"Take a photo and have it explained. Use it whenever the user asks you to look at something.",
);
const LIGHT = tool("self.light.set", "Turn a light of the device on or off, dim it, or change its colour.");
const SENSOR = tool("self.sensor.read", "Read one sensor of the device, or all of them: temperature, light, motion.");

const EVERYTHING = [STATUS, VOLUME, CHIME, PLAY, BRIGHTNESS, THEME, PHOTO, LIGHT, SENSOR];

const ROOMS = ["kitchen", "garage", "porch", "office", "bedroom", "attic", "cellar", "hall", "nursery", "living_room"];
const THINGS = ["", "_panel", "_lamp", "_camera", "_clock"];

/** Sentences of people and models, with the device and tool to be found first. */
const SENTENCES: readonly (readonly [sentence: string, device: string, tool: string])[] = [
	["make the garage louder", "garage", "set_volume"],
	["turn the kitchen down, it is too loud", "kitchen", "set_volume"],
	["mute the office", "office", "set_volume"],
	["set the volume in the bedroom to 20", "bedroom", "set_volume"],
	["please be quieter in the nursery", "nursery", "set_volume"],
	["lower the sound volume of the hall", "hall", "set_volume"],
	["volume up in the attic", "attic", "set_volume"],
	["I can't hear the cellar", "cellar", "set_volume"],
	["make the screen in the office brighter", "office", "set_brightness"],
	["dim the screen of the kitchen panel", "kitchen_panel", "set_brightness"],
	["the bedroom clock display is too bright", "bedroom_clock", "set_brightness"],
	["set brightness to 40 percent on the porch panel", "porch_panel", "set_brightness"],
	["switch the kitchen to the dark theme", "kitchen", "set_theme"],
	["use the light theme in the hall", "hall", "set_theme"],
	["change the appearance of the office screen theme", "office", "set_theme"],
	["take a picture of the porch", "porch", "take_photo"],
	["what can you see in the garage?", "garage", "take_photo"],
	["look at the nursery", "nursery", "take_photo"],
	["take a photo with the porch camera", "porch_camera", "take_photo"],
	["who is in front of the hall camera? take a snapshot", "hall_camera", "take_photo"],
	["show me an image from the cellar", "cellar", "take_photo"],
	["turn on the light in the kitchen", "kitchen", "light_set"],
	["turn off the lights in the garage", "garage", "light_set"],
	["switch on the bedroom lamp", "bedroom_lamp", "light_set"],
	["make the living room lamp blue, change its colour", "living_room_lamp", "light_set"],
	["lights out in the attic", "attic", "light_set"],
	["turn the office light red", "office", "light_set"],
	["how warm is it in the cellar", "cellar", "sensor_read"],
	["what is the temperature in the nursery?", "nursery", "sensor_read"],
	["is there any motion in the garage?", "garage", "sensor_read"],
	["read the sensors of the attic", "attic", "sensor_read"],
	["is it cold on the porch", "porch", "sensor_read"],
	["play some music in the living room", "living_room", "play"],
	["play a song in the kitchen", "kitchen", "play"],
	["ring the bell in the hall", "hall", "chime"],
	["get the attention of everybody in the office", "office", "chime"],
	["beep in the bedroom", "bedroom", "chime"],
	["how much battery does the porch camera have left", "porch_camera", "get_device_status"],
	["is the wifi signal of the garage good?", "garage", "get_device_status"],
	["what is the status of the living room panel", "living_room_panel", "get_device_status"],
];

/** Written before the search was. Its English words were extended after these were tried. */
const OTHERS: typeof SENTENCES = [
	["could you make the hall panel a bit less glaring", "hall_panel", "set_brightness"],
	["the nursery speaker is way too noisy at night", "nursery", "set_volume"],
	["paint the attic lamp green", "attic_lamp", "light_set"],
	["snap a pic from the garage camera", "garage_camera", "take_photo"],
	["do we need to recharge the porch clock?", "porch_clock", "get_device_status"],
	["did anything move in the cellar?", "cellar", "sensor_read"],
	["put on some jazz in the office", "office", "play"],
	["give a short signal in the bedroom so they come down", "bedroom", "chime"],
	["night mode colours for the kitchen panel", "kitchen_panel", "set_theme"],
	["is it freezing in the attic?", "attic", "sensor_read"],
	["厨房 音量", "kitchen", "set_volume"],
	["把卧室的灯关掉", "bedroom", "light_set"],
	["客厅现在多少度", "living_room", "sensor_read"],
	["车库里有什么，拍张照片看看", "garage", "take_photo"],
	["办公室的屏幕调暗一点", "office", "set_brightness"],
	["在厨房放一首歌", "kitchen", "play"],
	["阁楼的电池还剩多少", "attic", "get_device_status"],
	["キッチンの音量を下げて", "kitchen", "set_volume"],
	["寝室の電気を消して", "bedroom", "light_set"],
	["リビングは何度ですか", "living_room", "sensor_read"],
	["ガレージの写真を撮って", "garage", "take_photo"],
	["オフィスで音楽をかけて", "office", "play"],
	["地下室のバッテリーの残りは？", "cellar", "get_device_status"],
	["廊下の画面を明るくして", "hall", "set_brightness"],
];

/** Written when the search was as it is, and tried once. */
const FRESH: typeof SENTENCES = [
	["the porch is deafening, can you fix that", "porch", "set_volume"],
	["set the office clock to half its loudness", "office_clock", "set_volume"],
	["I can hardly read the display of the hall clock", "hall_clock", "set_brightness"],
	["what does the cellar look like at the moment?", "cellar", "take_photo"],
	["has somebody moved in the porch?", "porch", "sensor_read"],
	["how humid is the nursery", "nursery", "sensor_read"],
	["light up the hall", "hall", "light_set"],
	["make the bedroom lamp warm white", "bedroom_lamp", "light_set"],
	["start the radio in the kitchen", "kitchen", "play"],
	["buzz in the garage to call them", "garage", "chime"],
	["is the attic panel connected to the network?", "attic_panel", "get_device_status"],
	["dark appearance for the office panel please", "office_panel", "set_theme"],
	["走廊声音太大了", "hall", "set_volume"],
	["打开地下室的灯", "cellar", "light_set"],
	["卧室湿度是多少", "bedroom", "sensor_read"],
	["拍一下门廊", "porch", "take_photo"],
	["客厅播放音乐", "living_room", "play"],
	["儿童房的屏幕太亮了", "nursery", "set_brightness"],
	["書斎の音を小さくして", "office", "set_volume"],
	["玄関のカメラで写真を撮って", "porch", "take_photo"],
	["屋根裏の温度を教えて", "attic", "sensor_read"],
	["ガレージのライトをつけて", "garage", "light_set"],
	["台所の画面を暗くして", "kitchen", "set_brightness"],
	["居間のチャイムを鳴らして", "living_room", "chime"],
];

/** How many must be found first: of the sentences that the search was tuned with, and of the fresh ones. */
const MIN_FIRST = [
	[SENTENCES, 38],
	[OTHERS, 20],
	[FRESH, 20],
] as const;

describe("a search by a sentence among 50 devices", () => {
	it("finds the tool and the device first", async (t) => {
		const aliases = ROOMS.flatMap((room) => THINGS.map((thing) => `${room}${thing}`));
		const ids = aliases.map((_, index) => `aa:bb:cc:00:01:${index.toString(16).padStart(2, "0")}`);
		const gateway = await startGateway(t, {
			aliases: new Map(ids.map((id, index) => [id, aliases[index] as string])),
		});
		await Promise.all(ids.map((id) => WireDevice.connect(t, gateway, { id, tools: EVERYTHING, board: "m5stack" })));
		const catalog = gateway.gateway.catalog(LOCAL);
		assert.equal(catalog.allTools.length, 450);
		for (const [sentences, least] of MIN_FIRST) {
			const missed: string[] = [];
			for (const [query, device, name] of sentences) {
				const [first] = searchTools(catalog, { query });
				if (first?.server !== device || !first.name.endsWith(name)) {
					missed.push(`${query}: ${first?.name}, not ${device} ${name}`);
				}
			}
			assert.ok(sentences.length - missed.length >= least, missed.join("\n"));
			t.diagnostic(`${sentences.length - missed.length} of ${sentences.length}`);
		}
	});
});
