package cataloghttp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/clock"
	"comanda/internal/fault"
	"comanda/internal/httpapi"
)

// The limits of an upload. A phone in a kitchen has a slow connection, so the body may take longer than other requests do.
const (
	maxImage       = 8 << 20
	maxForm        = maxImage + 64<<10 // with the parts and headers of a form
	maxUploads     = 4                 // at a time, because each is held in memory
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
	errTooLarge   = fault.Newf(fault.Invalid, "image_too_large", "An image can have at most %d MB.", maxImage>>20)
	errIncomplete = fault.New(fault.Invalid, "image_unreadable", "The upload was interrupted. Please send the image again.")
)

// uploads receives images.
type uploads struct {
	images *catalog.Images
	slots  chan struct{}
}

// registerImages registers the upload route. It is a plain route, because its body is not JSON.
func registerImages(a *httpapi.API, images *catalog.Images) {
	u := &uploads{images, make(chan struct{}, maxUploads)}
	a.Handle(httpapi.Route{
		Pattern: "POST /api/images", Policy: httpapi.Staff, Module: "MENUS", Name: "Uploads an image of a dish",
		Handler: http.HandlerFunc(u.add), MaxBodyBytes: maxForm, Stream: true,
	})
}

// uploadedImage is the response to an upload.
type uploadedImage struct {
	ID       string `json:"id"`
	ImageURL string `json:"imageUrl"`
}

func (u *uploads) add(w http.ResponseWriter, r *http.Request) {
	select {
	case u.slots <- struct{}{}:
		defer func() { <-u.slots }()
	// Refused at once: a waiting upload would occupy a connection that is not read.
	default:
		httpapi.Fail(w, r, errTooManyUploads)
		return
	}
	id, err := u.receive(w, r)
	if err != nil {
		httpapi.Fail(w, r, err)
		return
	}
	body, _ := json.Marshal(uploadedImage{id, catalog.ImageURL(id)}) // two strings always marshal
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write(body) // the client may be gone
}

func (u *uploads) receive(w http.ResponseWriter, r *http.Request) (string, error) {
	_ = http.NewResponseController(w).SetReadDeadline(clock.In(uploadTimeout)) // fails only if the server supports no deadlines
	raw, err := readImage(r)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(r.Context(), processTimeout)
	defer cancel()
	return u.images.Add(ctx, raw)
}

// readImage reads the image: the file named image or file of a form, or the whole body.
func readImage(r *http.Request) ([]byte, error) {
	var from io.Reader = r.Body
	if kind, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind == "multipart/form-data" {
		part, err := filePart(multipart.NewReader(r.Body, params["boundary"]))
		if err != nil {
			return nil, err
		}
		from = part
	}
	// One byte more than allowed, to distinguish an image of the maximum size from a longer one.
	raw, err := io.ReadAll(io.LimitReader(from, maxImage+1))
	if len(raw) > maxImage {
		return nil, errTooLarge
	}
	return raw, uploadError(err)
}

// filePart returns the file of a form and skips other fields.
func filePart(form *multipart.Reader) (*multipart.Part, error) {
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return nil, errNoImage
		}
		if err != nil {
			return nil, uploadError(err)
		}
		if part.FormName() == "image" || part.FormName() == "file" {
			return part, nil
		}
	}
}

// uploadError keeps the error of a body above the limit and turns any other into errIncomplete.
func uploadError(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok || err == nil {
		return err
	}
	return errIncomplete.Because(err)
}
