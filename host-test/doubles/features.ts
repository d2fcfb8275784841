import language from "../../src/core/language/feature.js";
import type { Feature, Listener } from "../../src/core/listener.js";
import { bootstrapFeature } from "../../src/features/bootstrap/bootstrap.js";
import conversation from "../../src/features/conversation/feature.js";
import update from "../../src/features/update/feature.js";
import voice from "../../src/features/voice/feature.js";
import http from "../../src/protocols/http/feature.js";
import mqtt from "../../src/protocols/mqtt/feature.js";

const bootstrap = bootstrapFeature(async () => new ArrayBuffer(0));

export const FEATURES: readonly Feature[] = [bootstrap, conversation, http, language, mqtt, update, voice];

export const listening = (...listeners: readonly Listener[]): Feature => ({
	name: "listening",
	start: (app) => app.listen(...listeners),
});
