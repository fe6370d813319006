module example.org/cento/example

go 1.19

require (
	example.org/cento/centoapi v0.0.0
	gopkg.in/validator.v2 v2.0.1
)

replace example.org/cento/centoapi => ./centoapi
