package telemetry

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"comanda/internal/testenv"
)

const canary = "canary-4f1d"

// T1: every formatter, logger and encoder that the program could use.
func TestSecret_NeverPrints(t *testing.T) {
	s := Secret(canary)
	holder := struct {
		Token  Secret
		Tokens []Secret
		Map    map[string]Secret
	}{s, []Secret{s}, map[string]Secret{"a": s}}

	var logs bytes.Buffer
	for _, h := range []slog.Handler{slog.NewJSONHandler(&logs, nil), slog.NewTextHandler(&logs, nil)} {
		slog.New(h).Info("m", "secret", s, "holder", holder, "group", slog.GroupValue(slog.Any("s", s)))
	}
	printed := []string{
		logs.String(), s.String(), s.GoString(), fmt.Sprint(s), fmt.Errorf("e: %w, %v", errorOf(s), s).Error(),
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%30s"} {
		printed = append(printed, fmt.Sprintf(verb, s), fmt.Sprintf(verb, &holder), fmt.Sprintf(verb, holder))
	}
	for _, v := range []any{s, holder, &holder} {
		b := testenv.Must(json.Marshal(v))(t)
		printed = append(printed, string(b))
	}
	for _, p := range printed {
		if strings.Contains(p, canary) || strings.Contains(strings.ToLower(p), fmt.Sprintf("%x", canary)) {
			t.Errorf("the secret shows in %q", p)
		}
		if !strings.Contains(p, redacted) {
			t.Errorf("nothing says that something is hidden in %q", p)
		}
	}
}

func errorOf(s Secret) error { return fmt.Errorf("token %s", s) }

func TestSecret_ReadsFromJSONAndConverts(t *testing.T) {
	var v struct{ Token Secret }
	testenv.NoError(t, json.Unmarshal([]byte(`{"Token":"`+canary+`"}`), &v))
	if string(v.Token) != canary {
		t.Errorf("the text is lost: %q", string(v.Token))
	}
}
