package linepaysim

import (
	"io"
	"net/http"
	"time"

	"comanda/internal/sim"
)

// reply is a response of the API. Its HTTP status is 200, even for errors, as at LINE Pay.
type reply struct {
	Code    string `json:"returnCode"`
	Message string `json:"returnMessage"`
	Info    any    `json:"info,omitempty"`
}

func success(info any) reply { return reply{"0000", "Success.", info} }

// messages are the texts of the codes that the simulator returns by itself. A code that a fault sets need not be among
// them, and then has no text.
var messages = map[string]string{
	"0000": "Success.", "0110": "The user has approved.", "0121": "The user has canceled, or the time is over.",
	"0122": "The payment has failed.", "0123": "The payment is done.",
	"1104": "Non-existing merchant.", "1105": "The merchant cannot use LINE Pay.",
	"1106": "Header information error.", "1124": "Amount error.", "1150": "Transaction record not found.",
	"1153": "The amount differs from the requested one.", "1155": "Not a transaction that can be refunded.",
	"1164": "The refund is more than is left.", "1165": "Refunded already.", "1169": "The user has not approved yet.",
	"1172": "The order was confirmed already.", "1178": "The currency is not supported.", "1180": "The payment has expired.",
	"1198": "Duplicated API call.", "2101": "Parameter error.", "2102": "JSON data format error.",
}

func codeReply(code string) reply { return reply{Code: code, Message: messages[code]} }

// handle returns the handler of an API call: it authenticates, applies a fault, executes and responds.
func (s *Simulator) handle(c Call, do func(r *http.Request, body []byte, f Fault) reply) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, sim.MaxBody))
		if err != nil {
			http.Error(w, "body", http.StatusRequestEntityTooLarge)
			return
		}
		if why := s.authenticate(r, body); why != "" {
			sim.WriteJSON(w, reply{Code: "1106", Message: why})
			return
		}
		// The fault is taken after the signature is verified: requests that are refused anyway must not use it up.
		f := s.takeFault(c)
		// The delay is part of the running call, so that a second confirmation meanwhile is a duplicate (1198).
		out, ok := s.exclusive(r, func() reply {
			s.Wait(r.Context(), time.Duration(f.DelayMS)*time.Millisecond)
			if !f.executes() {
				return reply{}
			}
			return do(r, body, f)
		})
		if !ok {
			sim.WriteJSON(w, codeReply("1198"))
			return
		}
		if f.Code != "" {
			out = codeReply(f.Code)
			if f.Message != "" {
				out.Message = f.Message
			}
		}
		s.respond(w, r, f.Response, out)
	}
}

// exclusive runs do unless a request to the same path is running, as LINE Pay does for changes; ok is false then. It
// does not hold mu while do runs, because do may wait for a delay and takes mu itself.
func (s *Simulator) exclusive(r *http.Request, do func() reply) (out reply, ok bool) {
	if r.Method == http.MethodGet || r.PathValue("id") == "" {
		return do(), true
	}
	s.mu.Lock()
	taken := s.busy[r.URL.Path]
	s.busy[r.URL.Path] = true
	s.mu.Unlock()
	if taken {
		return reply{}, false
	}
	defer func() {
		s.mu.Lock()
		delete(s.busy, r.URL.Path)
		s.mu.Unlock()
	}()
	return do(), true
}

// respond sends a reply, or fails in the way of fault.
func (s *Simulator) respond(w http.ResponseWriter, r *http.Request, fault ResponseFault, out reply) {
	switch fault {
	case Hangs:
		select {
		case <-r.Context().Done():
		case <-s.Done():
		}
		panic(http.ErrAbortHandler)
	// This panic is the one that net/http documents for closing a connection without a response and without a log entry.
	case Lost:
		panic(http.ErrAbortHandler)
	case Garbled:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<!doctype html><title>LINE Pay</title><p>\xe7\xb3\xbb\xff maintenance") // the caller may be gone
	case Broken:
		http.Error(w, "internal error", http.StatusInternalServerError)
	case Redirect:
		http.Redirect(w, r, "/control", http.StatusFound)
	default:
		sim.WriteJSON(w, out)
	}
}
