package telemetry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"
)

// LogConfig is the level and the format of the log. The zero value logs INFO and above as JSON. Level and Format come
// from the environment and do not change while the process runs.
type LogConfig struct {
	Level  string // debug, info, warn or error
	Format string // json, or text for terminals
}

// Validate returns an error if the configuration is invalid. It creates a logger without an output, so that Validate
// and NewLogger accept the same values.
func (c LogConfig) Validate() error {
	_, err := NewLogger(NewBuffer(io.Discard), c)
	return err
}

// NewLogger returns the logger of the process. The caller closes the buffer after everything that logs has stopped.
func NewLogger(out *Buffer, c LogConfig) (*slog.Logger, error) {
	var level slog.Level
	if c.Level != "" {
		if err := level.UnmarshalText([]byte(c.Level)); err != nil {
			return nil, fmt.Errorf("log level %q must be debug, info, warn or error", c.Level)
		}
	}
	opts := &slog.HandlerOptions{Level: level}
	switch c.Format {
	case "", "json":
		return slog.New(handler{slog.NewJSONHandler(out, opts), out}), nil
	case "text":
		return slog.New(handler{slog.NewTextHandler(out, opts), out}), nil
	}
	return nil, fmt.Errorf("log format %q must be json or text", c.Format)
}

// Carrier supplies log attributes of a request or message through contexts. LogAttrs is called only when a record is
// logged, so carrying them is cheap. It may be called concurrently.
type Carrier interface {
	LogAttrs() []slog.Attr
}

type carrierKey struct{}

// WithCarrier returns a context whose log records carry c's attributes (T3). A context has one carrier: a second call
// replaces it for the new context.
func WithCarrier(ctx context.Context, c Carrier) context.Context {
	return context.WithValue(ctx, carrierKey{}, c)
}

// CarrierOf returns the carrier of a context, or nil.
func CarrierOf(ctx context.Context) Carrier {
	c, _ := ctx.Value(carrierKey{}).(Carrier)
	return c
}

// handler adds the context's attributes, formats times as UTC milliseconds, and flushes errors immediately.
type handler struct {
	slog.Handler
	out *Buffer
}

// Handle implements slog.Handler. It returns errors of encoding; those of the output are kept by the buffer.
func (h handler) Handle(ctx context.Context, r slog.Record) error {
	r.Time = r.Time.UTC().Truncate(time.Millisecond)
	if c := CarrierOf(ctx); c != nil {
		r = r.Clone() // the record may share its attributes with a copy
		r.AddAttrs(c.LogAttrs()...)
	}
	err := h.Handler.Handle(ctx, r)
	// An error may be the last record before the process dies (T2).
	if r.Level >= slog.LevelError {
		h.out.drain()
	}
	return err
}

// WithAttrs implements slog.Handler. The embedded method would return a handler without the context's attributes.
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs), h.out}
}

// WithGroup implements slog.Handler, like WithAttrs. Attributes of the context are then inside the group.
func (h handler) WithGroup(name string) slog.Handler {
	return handler{h.Handler.WithGroup(name), h.out}
}

// redacted is the same for every secret, so that not even its length shows.
const redacted = "[redacted]"

// Secret is a password, token or key. All ways of printing it produce "[redacted]"; only the explicit conversion
// string(s), which reviewers can search for, returns the text. Never use a secret as a map key: encoding/json writes
// map keys without calling their methods.
type Secret string

// String hides the text from %v, %s and every concatenation through fmt.
func (Secret) String() string { return redacted }

// GoString hides the text from %#v.
func (Secret) GoString() string { return redacted }

// Format hides the text from every other verb, such as %q and %x.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// LogValue hides the text from slog.
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText hides the text from JSON, YAML and other text encoders. Unmarshalling works as for any string.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// MarshalJSON hides the text from JSON encoders that do not call MarshalText.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

const (
	// FlushEvery is the maximum time that a record stays in memory.
	FlushEvery = 200 * time.Millisecond

	// flushAt is the buffer size at which Write flushes synchronously. Writers then wait for the output, so memory
	// stays bounded and no record is dropped when the output is slow.
	flushAt = 64 << 10
)

// Buffer collects writes and passes them to the output in one piece, at most FlushEvery after the first of them. It has
// no goroutine of its own, so an idle buffer costs nothing and needs no Close. It is safe for concurrent use; one Write
// is never split between two pieces.
type Buffer struct {
	mu    sync.Mutex // guards the fields below; held only while copying
	buf   []byte
	timer *time.Timer // runs Flush; armed while buf is not empty
	shut  bool
	err   error // the first failure of the output since the last Flush or Close reported one

	out   io.Writer
	outMu sync.Mutex // held while writing to out, to keep the order of pieces; locked before mu
	spare []byte     // the last written piece, reused for the next
}

// NewBuffer returns a buffer for an output.
func NewBuffer(out io.Writer) *Buffer { return &Buffer{out: out} }

// Write never returns an error of the output: a full log must not stop the program. Flush returns such errors. It
// copies p and keeps no reference, as io.Writer requires. It waits for the output only if the buffer is full or closed.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	if len(b.buf) == 0 {
		b.startTimer()
	}
	b.buf = append(b.buf, p...)
	due := b.shut || len(b.buf) >= flushAt
	b.mu.Unlock()
	if due {
		b.drain()
	}
	return len(p), nil
}

// Flush writes all buffered data and returns the first error of the output since the last Flush.
func (b *Buffer) Flush() error {
	b.drain()
	b.mu.Lock()
	defer b.mu.Unlock()
	err := b.err
	b.err = nil
	return err
}

// Close flushes. Later writes go to the output immediately, so that the last records of a stopping process are not
// lost. It does not close the output.
func (b *Buffer) Close() error {
	b.mu.Lock()
	b.shut = true
	b.mu.Unlock()
	return b.Flush()
}

// startTimer starts the timer of the first record in an empty buffer. The caller holds mu.
func (b *Buffer) startTimer() {
	if b.timer == nil {
		b.timer = time.AfterFunc(FlushEvery, b.drain)
		return
	}
	b.timer.Reset(FlushEvery)
}

// drain writes all that is buffered. It holds mu only to swap the two slices, so writers do not wait for the output;
// outMu comes first, so that two drains cannot write their pieces in the wrong order.
func (b *Buffer) drain() {
	b.outMu.Lock()
	defer b.outMu.Unlock()

	b.mu.Lock()
	piece := b.buf
	b.buf = b.spare[:0]
	if b.timer != nil {
		b.timer.Stop()
	}
	b.mu.Unlock()

	// Another drain may have written everything already. The memory of both slices is kept.
	if len(piece) == 0 {
		b.spare = piece
		return
	}
	_, err := b.out.Write(piece)
	b.spare = nil
	if cap(piece) <= 2*flushAt { // do not keep the memory of one huge record
		b.spare = piece[:0]
	}
	if err != nil {
		b.mu.Lock()
		b.err = errors.Join(b.err, err)
		b.mu.Unlock()
	}
}
