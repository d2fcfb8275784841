import type { Suite } from "../harness.js";
import activation from "./activation.suite.js";
import application from "./application.suite.js";
import applicationLife from "./application-life.suite.js";
import attempts from "./attempts.suite.js";
import audioFrames from "./audio-frames.suite.js";
import backlight from "./backlight.suite.js";
import backoff from "./backoff.suite.js";
import beyondTools from "./beyond-tools.suite.js";
import bootstrap from "./bootstrap.suite.js";
import bootstrapAnswer from "./bootstrap-answer.suite.js";
import button from "./button.suite.js";
import camera from "./camera.suite.js";
import captiveDns from "./captive-dns.suite.js";
import chipPins from "./chip-pins.suite.js";
import clientRequests from "./client-requests.suite.js";
import config from "./config.suite.js";
import conversation from "./conversation.suite.js";
import deviceState from "./device-state.suite.js";
import directEvents from "./direct-events.suite.js";
import drivers from "./drivers.suite.js";
import envelope from "./envelope.suite.js";
import esp32Updater from "./esp32-updater.suite.js";
import ethernet from "./ethernet.suite.js";
import examples from "./examples.suite.js";
import face from "./face.suite.js";
import faceMotion from "./face-motion.suite.js";
import familyFace from "./family-face.suite.js";
import familyMcp from "./family-mcp.suite.js";
import familyWire from "./family-wire.suite.js";
import fatalError from "./fatal-error.suite.js";
import gatewaySearch from "./gateway-search.suite.js";
import http from "./http.suite.js";
import httpPieces from "./http-pieces.suite.js";
import httpServer from "./http-server.suite.js";
import improv from "./improv.suite.js";
import inputRequired from "./input-required.suite.js";
import jsonRpc from "./json-rpc.suite.js";
import language from "./language.suite.js";
import lineBreaks from "./line-breaks.suite.js";
import logging from "./logging.suite.js";
import mcp from "./mcp.suite.js";
import mcpCalls from "./mcp-calls.suite.js";
import mcpResults from "./mcp-results.suite.js";
import mods from "./mods.suite.js";
import mqtt from "./mqtt.suite.js";
import partDrivers from "./part-drivers.suite.js";
import parts from "./parts.suite.js";
import pictures from "./pictures.suite.js";
import png from "./png.suite.js";
import power from "./power.suite.js";
import presses from "./presses.suite.js";
import preview from "./preview.suite.js";
import { COMPLETION, PROMPTS } from "./prompts.suite.js";
import protocol from "./protocol.suite.js";
import resources from "./resources.suite.js";
import schema from "./schema.suite.js";
import sentGlyphs from "./sent-glyphs.suite.js";
import servedBackend from "./served-backend.suite.js";
import sessionWatch from "./session-watch.suite.js";
import sessions from "./sessions.suite.js";
import setup from "./setup.suite.js";
import setupFace from "./setup-face.suite.js";
import setupPage from "./setup-page.suite.js";
import setupStates from "./setup-states.suite.js";
import snapshot from "./snapshot.suite.js";
import softAccessPoint from "./soft-access-point.suite.js";
import sound from "./sound.suite.js";
import stateless from "./stateless.suite.js";
import states from "./states.suite.js";
import stringSchemas from "./string-schemas.suite.js";
import text from "./text.suite.js";
import tools from "./tools.suite.js";
import toolsAudio from "./tools-audio.suite.js";
import toolsConversation from "./tools-conversation.suite.js";
import toolsHttp from "./tools-http.suite.js";
import toolsParts from "./tools-parts.suite.js";
import trial from "./trial.suite.js";
import udpAudio from "./udp-audio.suite.js";
import update from "./update.suite.js";
import url from "./url.suite.js";
import voice from "./voice.suite.js";
import wantedNames from "./wanted-names.suite.js";
import wav from "./wav.suite.js";
import webSocket from "./websocket.suite.js";
import webSocketClient from "./websocket-client.suite.js";
import webSocketFlow from "./websocket-flow.suite.js";
import wifi from "./wifi.suite.js";

/** Every suite that needs nothing but ECMAScript. */
export const SUITES: readonly Suite[] = [
	text,
	schema,
	http,
	httpPieces,
	sound,
	wav,
	toolsAudio,
	mods,
	pictures,
	camera,
	snapshot,
	preview,
	png,
	power,
	httpServer,
	directEvents,
	jsonRpc,
	mcp,
	mcpResults,
	mcpCalls,
	resources,
	PROMPTS,
	COMPLETION,
	lineBreaks,
	logging,
	stateless,
	inputRequired,
	chipPins,
	clientRequests,
	stringSchemas,
	familyMcp,
	deviceState,
	backoff,
	url,
	envelope,
	protocol,
	attempts,
	wantedNames,
	sentGlyphs,
	sessions,
	sessionWatch,
	familyWire,
	webSocket,
	webSocketFlow,
	audioFrames,
	voice,
	udpAudio,
	webSocketClient,
	mqtt,
	tools,
	toolsHttp,
	toolsParts,
	toolsConversation,
	bootstrap,
	bootstrapAnswer,
	config,
	activation,
	application,
	applicationLife,
	states,
	presses,
	conversation,
	familyFace,
	language,
	fatalError,
	servedBackend,
	gatewaySearch,
	improv,
	update,
	trial,
	esp32Updater,
	ethernet,
	examples,
	beyondTools,
	wifi,
	captiveDns,
	softAccessPoint,
	setup,
	setupPage,
	setupStates,
	setupFace,
	drivers,
	backlight,
	button,
	partDrivers,
	parts,
	face,
	faceMotion,
];
