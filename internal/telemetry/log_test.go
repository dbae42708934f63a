package telemetry

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"comanda/internal/testenv"
)

func newTestLogger(t *testing.T, c LogConfig) (*slog.Logger, *Buffer, *sink) {
	t.Helper()
	out := &sink{}
	buf := NewBuffer(out)
	log := testenv.Must(NewLogger(buf, c))(t)
	t.Cleanup(func() { _ = buf.Close() })
	return log, buf, out
}

type request string

func (r request) LogAttrs() []slog.Attr { return []slog.Attr{slog.String("request_id", string(r))} }

func TestLogger_JSONRecord(t *testing.T) {
	log, buf, out := newTestLogger(t, LogConfig{})
	ctx := WithCarrier(context.Background(), request("r-1"))
	log.With("service", "comanda").InfoContext(ctx, "hello", "secret", Secret("s3cret"))
	testenv.NoError(t, buf.Flush())
	var got map[string]any
	testenv.NoError(t, json.Unmarshal([]byte(out.all()), &got))
	at, err := time.Parse(time.RFC3339Nano, got["time"].(string))
	if err != nil || at.Location() != time.UTC || at.Nanosecond()%int(time.Millisecond) != 0 {
		t.Errorf("time %v is not UTC milliseconds (%v)", got["time"], err)
	}
	want := map[string]any{
		"level": "INFO", "msg": "hello", "service": "comanda", "request_id": "r-1", "secret": redacted,
	}
	for name, v := range want {
		if got[name] != v {
			t.Errorf("%s = %v, want %v", name, got[name], v)
		}
	}
}

// T2: an error may be the last message of a process.
func TestLogger_ErrorsAreWrittenAtOnce(t *testing.T) {
	log, _, out := newTestLogger(t, LogConfig{Format: "text"})
	log.Info("first")
	if got := out.all(); got != "" {
		t.Fatalf("an ordinary record did not wait: %q", got)
	}
	log.Error("second")
	if got := out.all(); !strings.Contains(got, "msg=first") || !strings.Contains(got, "msg=second") {
		t.Errorf("output %q, want both records", got)
	}
}

func TestLogConfig(t *testing.T) {
	for _, c := range []LogConfig{{}, {Level: "debug", Format: "json"}, {Level: "WARN", Format: "text"}} {
		if err := c.Validate(); err != nil {
			t.Errorf("Validate(%+v): %v", c, err)
		}
	}
	for _, c := range []LogConfig{{Level: "loud"}, {Format: "xml"}} {
		if c.Validate() == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
}

func TestLogger_LevelFilters(t *testing.T) {
	log, buf, out := newTestLogger(t, LogConfig{Level: "warn"})
	log.Info("quiet")
	log.WithGroup("g").Warn("loud", "k", "v")
	_ = buf.Flush()
	if got := out.all(); strings.Contains(got, "quiet") || !strings.Contains(got, `"g":{"k":"v"}`) {
		t.Errorf("output %q", got)
	}
}
