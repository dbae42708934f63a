package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"comanda/internal/clock"
	"comanda/internal/fault"
)

// eventStream is the media type of server-sent events (WHATWG HTML, section 9.2).
const eventStream = "text/event-stream"

// A client that does not read is given up when the kernel's buffers are full for as long as streamWrite.
const (
	streamWrite = 10 * time.Second
	streamRetry = 2 * time.Second // what clients are told to wait before they come back
)

var errStreams = fault.New(fault.TooMany, "too_many_streams", "This phone has too many live connections open.")

// Feed is a stream that was accepted.
type Feed struct {
	Key string                               // whose it is; only so many of one key may be open
	Run func(ctx context.Context, s *Stream) // sends until it returns, when the client or the server goes at the latest
	End func()                               // called once after Run, or instead of it; may be nil
}

func (f Feed) end() {
	if f.End != nil {
		f.End()
	}
}

// LastEvent is embedded in the inputs of streams: the id of the last event that the client has seen.
type LastEvent struct {
	LastEventID string `header:"Last-Event-ID" maxLength:"64" doc:"Of the last event seen; what it says is not sent again."`
}

// RegisterStream adds an operation that answers with server-sent events whose data are T as JSON. open decides whether
// there is a stream at all; its errors become problems. A stream ends when the server stops; clients come back then.
func RegisterStream[I, T any](a *API, op huma.Operation, p Policy, open func(ctx context.Context, in *I) (Feed, error)) {
	schema := a.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[T](), true, op.OperationID+"Event")
	op.Responses = map[string]*huma.Response{"200": {
		Description: "Events with ids; a comment every 15 seconds while nothing happens. The data of an event:",
		Content:     map[string]*huma.MediaType{eventStream: {Schema: schema}},
	}}
	op.Metadata = withMember(op.Metadata, streamKey, true)
	Register(a, op, p, func(ctx context.Context, in *I) (*huma.StreamResponse, error) {
		feed, err := open(ctx, in)
		if err != nil {
			return nil, err
		}
		if err := a.s.streams.enter(feed.Key); err != nil {
			feed.end()
			return nil, err
		}
		return &huma.StreamResponse{Body: func(hc huma.Context) {
			defer a.s.streams.leave(feed.Key)
			defer feed.end()
			a.s.run(hc, feed)
		}}, nil
	})
}

// streamKey marks a stream in an operation's metadata.
const streamKey = "comanda-stream"

func isStream(op *huma.Operation) bool { return op.Metadata[streamKey] == true }

// run sends the head of the answer and has the feed do the rest, until the client or the server goes.
func (s *Server) run(hc huma.Context, f Feed) {
	x := exchangeOf(hc.Context())
	ctx, cancel := context.WithCancel(hc.Context())
	defer cancel()
	defer context.AfterFunc(s.stopping(), cancel)()
	h := x.Header()
	h.Set("Content-Type", eventStream)
	h.Set("X-Accel-Buffering", "no") // nginx would collect events
	r, _ := humago.Unwrap(hc)
	st := &Stream{
		x: x, ctl: http.NewResponseController(x.ResponseWriter), every: s.conf.StreamBeat, look: s.conf.StreamLook,
		admit: func(ctx context.Context) (context.Context, error) {
			ctx, _, err := s.guard.admit(ctx, &x.route.Listing, r)
			return ctx, err
		},
	}
	if st.write([]byte("retry: "+strconv.FormatInt(streamRetry.Milliseconds(), 10)+"\n\n")) == nil {
		f.Run(ctx, st)
	}
}

// Stream is one client's connection. It is used by one goroutine.
type Stream struct {
	x     *exchange
	ctl   *http.ResponseController
	every time.Duration   // of the heartbeat
	look  time.Duration   // the least that Wait waits for what does not come
	last  clock.Stopwatch // since a write
	admit func(ctx context.Context) (context.Context, error)
}

// Admitted gives the context of the stream's request as it would be now, or why it would not be let in any more. Streams
// of accounts go on for longer than their tokens, and ask from time to time.
func (s *Stream) Admitted(ctx context.Context) (context.Context, error) { return s.admit(ctx) }

// Event is one message. ID is what the client sends as Last-Event-ID when it comes back; Data is sent as JSON.
type Event struct {
	ID, Name string
	Data     any
}

// Send writes an event. An error means that the client is gone.
func (s *Stream) Send(e Event) error {
	data, err := json.Marshal(e.Data)
	if err != nil {
		return fault.Wrap("encode event", err)
	}
	text := make([]byte, 0, len(data)+len(e.ID)+len(e.Name)+24)
	text = append(text, "id: "+e.ID+"\nevent: "+e.Name+"\ndata: "...)
	text = append(text, data...)
	return s.write(append(text, "\n\n"...))
}

// Wait returns when wake or the time has come, or with an error when the stream is over. It keeps the connection alive
// meanwhile. A nil wake never comes. Where the server is set so, the time comes later, see Config.StreamLook.
func (s *Stream) Wait(ctx context.Context, wake <-chan struct{}, atMost time.Duration) error {
	over := time.NewTimer(max(atMost, s.look))
	defer over.Stop()
	beat := time.NewTimer(s.every - s.last.Elapsed())
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-wake:
			return nil
		case <-over.C:
			return nil
		case <-beat.C:
			if err := s.write([]byte(":\n\n")); err != nil {
				return err
			}
			beat.Reset(s.every)
		}
	}
}

func (s *Stream) write(text []byte) error {
	s.last = clock.Start()
	_ = s.ctl.SetWriteDeadline(clock.In(streamWrite))
	if _, err := s.x.Write(text); err != nil {
		return err
	}
	return s.ctl.Flush()
}

// streams counts what is open.
type streams struct {
	max, maxPerKey int

	mu    sync.Mutex
	open  int
	byKey map[string]int
}

func (s *streams) enter(key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open >= s.max {
		return errOverloaded
	}
	if s.byKey[key] >= s.maxPerKey {
		return errStreams
	}
	s.open++
	s.byKey[key]++
	return nil
}

func (s *streams) leave(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	if s.byKey[key]--; s.byKey[key] == 0 {
		delete(s.byKey, key)
	}
}

func (s *streams) count() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return float64(s.open)
}
