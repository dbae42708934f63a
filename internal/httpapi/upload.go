package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"time"

	"comanda/internal/clock"
	"comanda/internal/fault"
)

// The limits of an uploaded image. A phone in a kitchen has a slow connection, so the body may take longer than other
// requests do.
const (
	MaxImage       = 8 << 20
	MaxImageForm   = MaxImage + 64<<10 // with the parts and headers of a form
	MaxUploads     = 4                 // at a time and route, because each is held in memory
	uploadTimeout  = 60 * time.Second
	processTimeout = 20 * time.Second // to resize and store a received image
)

// The faults of an upload.
var (
	errTooManyUploads = &fault.Error{
		Kind: fault.Unavailable, Code: "overloaded", RetryAfter: 2 * time.Second,
		Detail: "Too many images are being uploaded. Please try again.",
	}
	errNoImage    = fault.New(fault.Invalid, "image_missing", "The form needs a file named image or file.")
	errTooLarge   = fault.Newf(fault.Invalid, "image_too_large", "An image can have at most %d MB.", MaxImage>>20)
	errIncomplete = fault.New(fault.Invalid, "image_unreadable", "The upload was interrupted. Please send the image again.")
)

var imageUpload = Upload{
	Names: []string{"image", "file"}, Limit: MaxImage, Missing: errNoImage, TooLarge: errTooLarge, Incomplete: errIncomplete,
}

// HandleImages registers a route that receives images: as a part of a form, or as the whole body. use processes one and
// returns the body of the response. It is a plain route, because the body of its requests is not JSON. Handler of rt is
// not used.
func (a *API) HandleImages(rt Route, status int, use func(r *http.Request, raw []byte) (any, error)) {
	slots := make(chan struct{}, MaxUploads)
	rt.MaxBodyBytes, rt.Stream = MaxImageForm, true
	rt.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
		// An upload beyond the limit is refused at once, because a waiting one would occupy a connection that is not
		// read.
		default:
			Fail(w, r, errTooManyUploads)
			return
		}
		body, err := receiveImage(w, r, use)
		if err != nil {
			Fail(w, r, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write(body) //nolint:gosec // JSON with its content type; the client may be gone
	})
	a.Handle(rt)
}

// receiveImage reads an upload with a deadline of its own, because the server's is too short for a photo on a slow phone.
// The time of processing is limited separately: it must not depend on how slowly the photo arrived.
func receiveImage(
	w http.ResponseWriter, r *http.Request, use func(r *http.Request, raw []byte) (any, error),
) ([]byte, error) {
	c := http.NewResponseController(w)
	_ = c.SetReadDeadline(clock.In(uploadTimeout)) // fails only if the server supports no deadlines
	raw, err := imageUpload.Read(r)
	if err != nil {
		return nil, err
	}
	_ = c.SetReadDeadline(time.Time{}) // net/http would cancel the request's context when it passes
	ctx, cancel := context.WithTimeout(r.Context(), processTimeout)
	defer cancel()
	view, err := use(r.WithContext(ctx), raw)
	if err != nil {
		return nil, err
	}
	return json.Marshal(view)
}

// Upload is a file that a request sends: as a part of a form, or as the whole body.
type Upload struct {
	Names                         []string // names of the part
	Limit                         int64    // in bytes
	Missing, TooLarge, Incomplete *fault.Error
}

// Read reads the file of a request.
func (u Upload) Read(r *http.Request) ([]byte, error) {
	var from io.Reader = r.Body
	if kind, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind == "multipart/form-data" {
		part, err := u.part(multipart.NewReader(r.Body, params["boundary"]))
		if err != nil {
			return nil, err
		}
		from = part
	}
	// One byte more than allowed is read, to distinguish a file of the maximum size from a longer one.
	raw, err := io.ReadAll(io.LimitReader(from, u.Limit+1))
	if int64(len(raw)) > u.Limit {
		return nil, u.TooLarge
	}
	return raw, u.failed(err)
}

// part returns the file of a form and skips other fields.
func (u Upload) part(form *multipart.Reader) (*multipart.Part, error) {
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return nil, u.Missing
		}
		if err != nil {
			return nil, u.failed(err)
		}
		if slices.Contains(u.Names, part.FormName()) {
			return part, nil
		}
	}
}

// failed returns the error for a body above the limit unchanged, and any other error as an incomplete upload.
func (u Upload) failed(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok || err == nil {
		return err
	}
	return u.Incomplete.Because(err)
}
