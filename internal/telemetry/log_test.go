package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

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

// sink is an output that stores its writes and can fail.
type sink struct {
	mu     sync.Mutex
	pieces []string
	err    error
}

func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pieces = append(s.pieces, string(p))
	return len(p), s.err
}

func (s *sink) list() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.pieces)
}

func (s *sink) all() string { return strings.Join(s.list(), "") }

// T2: nothing is written before the deadline, and one piece at it.
func TestBuffer_FlushesAfterTheInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &sink{}
		b := NewBuffer(out)
		for round := 1; round <= 3; round++ {
			fmt.Fprint(b, "a")
			time.Sleep(FlushEvery / 2)
			fmt.Fprint(b, "b")
			time.Sleep(FlushEvery/2 - 1)
			synctest.Wait()
			if got := len(out.list()); got != round-1 {
				t.Fatalf("round %d: %d pieces before the interval has passed", round, got)
			}
			time.Sleep(time.Nanosecond)
			synctest.Wait()
			if got := out.list(); len(got) != round || got[round-1] != "ab" {
				t.Fatalf("round %d: pieces %q", round, got)
			}
		}
	})
}

func TestBuffer_FullBufferDoesNotWait(t *testing.T) {
	out := &sink{}
	b := NewBuffer(out)
	line := bytes.Repeat([]byte("x"), flushAt/4)
	for range 4 {
		testenv.Must(b.Write(line))(t)
	}
	testenv.Equal(t, flushAt, len(out.all()))
	testenv.NoError(t, b.Close())
}

func TestBuffer_CloseFlushesAndWritesThroughAfterwards(t *testing.T) {
	out := &sink{}
	b := NewBuffer(out)
	fmt.Fprint(b, "one ")
	testenv.NoError(t, b.Close())
	fmt.Fprint(b, "two")
	testenv.Equal(t, "one two", out.all())
}

func TestBuffer_ReportsTheOutputsFailureOnce(t *testing.T) {
	full := errors.New("no space left on device")
	b := NewBuffer(&sink{err: full})
	if n, err := b.Write([]byte("abc")); n != 3 || err != nil {
		t.Fatalf("Write = %d, %v: logging must not fail", n, err)
	}
	if err := b.Flush(); !errors.Is(err, full) {
		t.Errorf("Flush = %v, want the failure of the output", err)
	}
	if err := b.Flush(); err != nil {
		t.Errorf("second Flush = %v, want nothing new", err)
	}
}

func TestBuffer_concurrent_lines(t *testing.T) {
	out := &sink{}
	b := NewBuffer(out)
	const writers, lines = 8, 2_000
	var wg sync.WaitGroup
	for w := range writers {
		line := []byte(strings.Repeat(string(rune('a'+w)), 50) + "\n")
		wg.Go(func() {
			for range lines {
				_, _ = b.Write(line)
			}
		})
	}
	wg.Wait()
	testenv.NoError(t, b.Close())
	got := strings.Split(strings.TrimSuffix(out.all(), "\n"), "\n")
	if len(got) != writers*lines {
		t.Fatalf("%d lines, want %d", len(got), writers*lines)
	}
	for _, line := range got {
		if len(line) != 50 || strings.Count(line, line[:1]) != 50 {
			t.Fatalf("a torn line: %q", line)
		}
	}
}

func BenchmarkBuffer_Write(b *testing.B) {
	buf := NewBuffer(io.Discard)
	line := bytes.Repeat([]byte("x"), 300)
	for b.Loop() {
		_, _ = buf.Write(line)
	}
	_ = buf.Close()
}

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
	testenv.Equal(t, canary, string(v.Token))
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
