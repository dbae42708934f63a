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

// Limits of what is sent. A phone in a kitchen has a slow line, so the body may take longer than other requests do.
const (
	maxImage   = 8 << 20
	maxForm    = maxImage + 64<<10 // with what a form writes around it
	maxUploads = 4                 // at a time: they are in memory
	uploadTime = 60 * time.Second
	workTime   = 20 * time.Second // for an image that was received
)

// The faults of what is sent.
var (
	errUploads = &fault.Error{
		Kind: fault.Unavailable, Code: "overloaded", RetryAfter: 2 * time.Second,
		Detail: "Too many images at a time. Please try again.",
	}
	errNoImage  = fault.New(fault.Invalid, "image_missing", "The form has no file named image or file.")
	errTooLarge = fault.Newf(fault.Invalid, "image_too_large", "An image has at most %d MB.", maxImage>>20)
	errBroken   = fault.New(fault.Invalid, "image_unreadable", "The image was not received whole.")
)

// uploads takes pictures in.
type uploads struct {
	album *catalog.Album
	place chan struct{}
}

// keepPictures registers the route by which pictures are sent. It is a plain one, for its body is no JSON.
func keepPictures(a *httpapi.API, album *catalog.Album) {
	u := &uploads{album, make(chan struct{}, maxUploads)}
	a.Handle(httpapi.Route{
		Pattern: "POST /api/images", Policy: httpapi.Staff, Module: "MENUS", Name: "Takes a picture of a dish in",
		Handler: http.HandlerFunc(u.add), MaxBodyBytes: maxForm, Stream: true,
	})
}

// sent is the answer to a picture.
type sent struct {
	ID       string `json:"id"`
	ImageURL string `json:"imageUrl"`
}

func (u *uploads) add(w http.ResponseWriter, r *http.Request) {
	select {
	case u.place <- struct{}{}:
		defer func() { <-u.place }()
	default:
		httpapi.Fail(w, r, errUploads)
		return
	}
	id, err := u.take(w, r)
	if err != nil {
		httpapi.Fail(w, r, err)
		return
	}
	body, _ := json.Marshal(sent{id, catalog.PictureURL(id)}) // two strings
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write(body) // a client that has gone needs no answer
}

func (u *uploads) take(w http.ResponseWriter, r *http.Request) (string, error) {
	_ = http.NewResponseController(w).SetReadDeadline(clock.In(uploadTime)) // a server without deadlines has none to move
	raw, err := receive(r)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(r.Context(), workTime)
	defer cancel()
	return u.album.Add(ctx, raw)
}

// receive reads the image: the whole body, or the file named image of a form.
func receive(r *http.Request) ([]byte, error) {
	var from io.Reader = r.Body
	if kind, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind == "multipart/form-data" {
		part, err := filePart(multipart.NewReader(r.Body, params["boundary"]))
		if err != nil {
			return nil, err
		}
		from = part
	}
	raw, err := io.ReadAll(io.LimitReader(from, maxImage+1))
	if len(raw) > maxImage {
		return nil, errTooLarge
	}
	return raw, received(err)
}

// filePart finds the file in a form, whatever other fields it has.
func filePart(form *multipart.Reader) (*multipart.Part, error) {
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return nil, errNoImage
		}
		if err != nil {
			return nil, received(err)
		}
		if part.FormName() == "image" || part.FormName() == "file" {
			return part, nil
		}
	}
}

// received leaves a body above the limit what it is, and makes of any other failure that the sender must try again.
func received(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok || err == nil {
		return err
	}
	return errBroken.Because(err)
}
