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

// streamWrite limits a write: a client that does not read is dropped once the kernel's buffers have been full for that
// long.
const (
	// RequestTimeout and WriteTimeout do not apply to streams, see unbound.
	streamWrite = 10 * time.Second
	streamRetry = 2 * time.Second // reconnection time sent to clients
)

var errStreams = fault.New(fault.TooMany, "too_many_streams", "Too many live connections are open. Please close other tabs.")

// Feed is an accepted stream.
type Feed struct {
	Key string                               // phone or account, for Config.MaxStreamsPerKey
	Run func(ctx context.Context, s *Stream) // sends events; ctx ends when the client disconnects or the server stops
	End func()                               // called once, after Run or instead of it; may be nil
}

func (f Feed) end() {
	if f.End != nil {
		f.End()
	}
}

// LastEvent is embedded in the inputs of streams: the id of the last event that the client has received.
type LastEvent struct {
	LastEventID string `header:"Last-Event-ID" maxLength:"64" doc:"Id of the last received event; it is not sent again."`
}

// RegisterStream adds an operation that responds with server-sent events whose data are T as JSON. open accepts or
// refuses the stream; its errors become problems. Streams end when the server stops; clients reconnect then.
func RegisterStream[I, T any](
	o Operations, id, pattern, summary string, open func(ctx context.Context, in *I) (Feed, error),
) {
	a, op := o.api, o.operation(id, pattern, summary, nil)
	schema := a.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[T](), true, id+"Event")
	op.Responses = map[string]*huma.Response{"200": {
		Description: "Events with ids, and a comment after every 15 seconds without an event. The data of an event:",
		Content:     map[string]*huma.MediaType{eventStream: {Schema: schema}},
	}}
	op.Metadata = withMember(op.Metadata, streamKey, true)
	register(a, op, o.policy, func(ctx context.Context, in *I) (*huma.StreamResponse, error) {
		feed, err := open(ctx, in)
		if err != nil {
			return nil, err
		}
		// The stream is counted after open, because only open knows the key. A refused feed must still release what
		// open took.
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

// run sends the response header and runs the feed until the client disconnects or the server stops.
func (s *Server) run(hc huma.Context, f Feed) {
	x := exchangeOf(hc.Context())
	ctx, cancel := context.WithCancel(hc.Context())
	defer cancel()
	// The returned function detaches the stream from the server's end; otherwise ended streams would pile up there.
	defer context.AfterFunc(s.stopping(), cancel)()
	h := x.Header()
	h.Set("Content-Type", eventStream)
	h.Set("X-Accel-Buffering", "no") // otherwise nginx buffers events
	r, _ := humago.Unwrap(hc)
	st := &Stream{
		s: s, x: x, ctl: http.NewResponseController(x.ResponseWriter), admit: func(ctx context.Context) (context.Context, error) {
			ctx, _, err := s.auth.admit(ctx, &x.route.RouteInfo, r)
			return ctx, err
		},
	}
	// A client that asks for the header only takes the response for complete. While its stream ran, the next request on the
	// same connection would wait.
	if hc.Method() == http.MethodHead {
		return
	}
	// The first write also sends the header, so that the client's stream is open before its first event.
	if st.write([]byte("retry: "+strconv.FormatInt(streamRetry.Milliseconds(), 10)+"\n\n")) == nil {
		f.Run(ctx, st)
	}
}

// Stream is one client's connection. It is not safe for concurrent use.
type Stream struct {
	s     *Server
	x     *exchange
	ctl   *http.ResponseController
	beat  time.Duration // instant of the next heartbeat, see after
	admit func(ctx context.Context) (context.Context, error)
}

// Admitted authorizes the stream's request again and returns its context, or the reason for a refusal. It is the Admit
// of streams of accounts, which outlive their tokens.
func (s *Stream) Admitted(ctx context.Context) (context.Context, error) { return s.admit(ctx) }

// Event is one message. Clients send ID as Last-Event-ID when they reconnect; Data is encoded as JSON.
type Event struct {
	ID, Name string
	Data     any
}

// Frame is an encoded event. Streams that send the same event share one.
type Frame []byte

// Frame encodes the event.
func (e Event) Frame() (Frame, error) {
	data, err := json.Marshal(e.Data)
	if err != nil {
		return nil, fault.Wrap("encode event", err)
	}
	text := make([]byte, 0, len(data)+len(e.ID)+len(e.Name)+24)
	text = append(text, "id: "+e.ID+"\nevent: "+e.Name+"\ndata: "...)
	text = append(text, data...)
	return append(text, "\n\n"...), nil
}

// Send writes an event. An error means that the client has disconnected.
func (s *Stream) Send(e Event) error {
	f, err := e.Frame()
	if err != nil {
		return err
	}
	return s.SendFrame(f)
}

// SendFrame writes an encoded event, like Send.
func (s *Stream) SendFrame(f Frame) error { return s.write(f) }

// write sends text at once. It flushes, because net/http would keep small events in its buffer.
func (s *Stream) write(text []byte) error {
	s.beat = s.after(s.s.conf.StreamBeat)
	_ = s.ctl.SetWriteDeadline(clock.In(streamWrite))
	if _, err := s.x.Write(text); err != nil {
		return err
	}
	return s.ctl.Flush()
}

// streams counts open streams.
type streams struct {
	max, maxPerKey int

	mu    sync.Mutex
	open  int
	byKey map[string]int
}

// enter counts a stream, or returns the error that refuses it. Each success needs one leave.
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
	// Keys are phones and accounts; without the deletion the map would grow with each of them.
	if s.byKey[key]--; s.byKey[key] == 0 {
		delete(s.byKey, key)
	}
}

func (s *streams) count() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return float64(s.open)
}
