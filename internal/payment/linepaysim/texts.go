package linepaysim

import (
	_ "embed"
	"encoding/json"
)

//go:embed texts.json
var textsSource []byte

// texts are the page's words by language. Those in capitals stand in place of the buttons.
var texts = loadTexts()

func loadTexts() map[string]map[string]string {
	var all map[string]map[string]string
	if err := json.Unmarshal(textsSource, &all); err != nil {
		panic("linepaysim: " + err.Error())
	}
	return all
}

// language chooses the page's: what the guest has asked for, or else what the merchant has.
func language(asked, locale string) string {
	if _, ok := texts[asked]; ok {
		return asked
	}
	if locale == "zh_TW" {
		return "zh-TW"
	}
	return "en"
}
