module broken

go 1.26

require (
	example.com/known v1.0.0
	example.com/unreviewed v1.2.3
	example.com/other v1.0.0 // indirect
)
