import { deepFreeze } from "../text/deep-freeze.js";
import type { Words } from "./en.js";

/** The words of the device in Japanese. */
export const JAPANESE: Words = deepFreeze({
	offline: "オフライン",
	setup: "設定",
	connecting: "接続中",
	listening: "聞いています",
	updating: "更新中",
	error: "エラー",
	noBackend: "サーバーなし",
	updateFailed: "更新に失敗しました",
	modSkipped: "Modを読み込めません",
	invalidSetting: "設定が正しくありません",
	timer: "タイマー",
	joinWifi: "1. Wi-Fiに接続",
	openPage: "2. 開く",
	howToChoose: "押す: 次へ  長押し: 決定",
	pressed: "ボタン「{button}」が押されました。",
	held: "ボタン「{button}」が長押しされました。",
	measured: "センサー「{sensor}」({kind})の値は{value}になりました。",
	due: "タイマー「{timer}」の時間です。",
});
