package linepaysim

import (
	_ "embed"
	"encoding/json"
)

//go:embed texts.json
var textsSource []byte

// texts are the page's texts by language. Keys in capitals are messages that replace the buttons.
var texts = loadTexts()

func loadTexts() map[string]map[string]string {
	var all map[string]map[string]string
	if err := json.Unmarshal(textsSource, &all); err != nil {
		panic("linepaysim: " + err.Error())
	}
	return all
}

// language returns the language that the guest selected, or else the merchant's.
func language(asked, locale string) string {
	if _, ok := texts[asked]; ok {
		return asked
	}
	if locale == "zh_TW" {
		return "zh-TW"
	}
	return "en"
}
