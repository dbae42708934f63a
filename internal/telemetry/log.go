package telemetry

import (
	"context"
	"fmt"
	"io"
	"log/slog"
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
			return nil, fmt.Errorf("telemetry: log level %q must be debug, info, warn or error", c.Level)
		}
	}
	opts := &slog.HandlerOptions{Level: level}
	switch c.Format {
	case "", "json":
		return slog.New(handler{slog.NewJSONHandler(out, opts), out}), nil
	case "text":
		return slog.New(handler{slog.NewTextHandler(out, opts), out}), nil
	}
	return nil, fmt.Errorf("telemetry: log format %q must be json or text", c.Format)
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
