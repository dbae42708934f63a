package telemetry

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"
)

// LogConfig says what is logged and how. The zero value logs INFO and above as JSON.
type LogConfig struct {
	Level  string // debug, info, warn or error
	Format string // json, or text for a person at a terminal
}

// Validate tells what is wrong with a configuration.
func (c LogConfig) Validate() error {
	_, err := NewLogger(NewBuffer(io.Discard), c)
	return err
}

// NewLogger makes the logger of the process. The caller closes the buffer when everything that logs has stopped.
func NewLogger(out *Buffer, c LogConfig) (*slog.Logger, error) {
	var level slog.Level
	if c.Level != "" {
		if err := level.UnmarshalText([]byte(c.Level)); err != nil {
			return nil, fmt.Errorf("telemetry: log level %q is none of debug, info, warn, error", c.Level)
		}
	}
	opts := &slog.HandlerOptions{Level: level}
	switch c.Format {
	case "", "json":
		return slog.New(handler{slog.NewJSONHandler(out, opts), out}), nil
	case "text":
		return slog.New(handler{slog.NewTextHandler(out, opts), out}), nil
	}
	return nil, fmt.Errorf("telemetry: log format %q is neither json nor text", c.Format)
}

// Carrier is what a request or a message carries through its contexts. Its attributes are asked for only when
// something is logged, so that carrying them costs next to nothing.
type Carrier interface {
	LogAttrs() []slog.Attr
}

type (
	carrierKey struct{}
	attrsKey   struct{}
)

// WithCarrier returns a context whose log records carry c's attributes (T3).
func WithCarrier(ctx context.Context, c Carrier) context.Context {
	return context.WithValue(ctx, carrierKey{}, c)
}

// CarrierOf returns the carrier of a context, or nil.
func CarrierOf(ctx context.Context) Carrier {
	c, _ := ctx.Value(carrierKey{}).(Carrier)
	return c
}

// With returns a context whose log records carry more attributes (T3). It is for what correlates, such as the id of an
// event; never for data that a function needs.
func With(ctx context.Context, attrs ...slog.Attr) context.Context {
	if old, ok := ctx.Value(attrsKey{}).([]slog.Attr); ok {
		attrs = append(slices.Clip(old), attrs...)
	}
	return context.WithValue(ctx, attrsKey{}, attrs)
}

func attrsOf(ctx context.Context) []slog.Attr {
	attrs, _ := ctx.Value(attrsKey{}).([]slog.Attr)
	if c := CarrierOf(ctx); c != nil {
		return append(c.LogAttrs(), attrs...)
	}
	return attrs
}

// handler adds the context's attributes, writes instants as UTC milliseconds and lets errors through at once.
type handler struct {
	slog.Handler
	out *Buffer
}

func (h handler) Handle(ctx context.Context, r slog.Record) error {
	r.Time = r.Time.UTC().Truncate(time.Millisecond)
	if attrs := attrsOf(ctx); len(attrs) > 0 {
		r = r.Clone() // a record that is handed on may share its attributes with another
		r.AddAttrs(attrs...)
	}
	err := h.Handler.Handle(ctx, r)
	if r.Level >= slog.LevelError {
		h.out.drain()
	}
	return err
}

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs), h.out}
}

func (h handler) WithGroup(name string) slog.Handler {
	return handler{h.Handler.WithGroup(name), h.out}
}
