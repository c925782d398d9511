"""Train a model on private records by noisy gradient descent, with ε beside accuracy."""

from .models import Logistic as Logistic
from .models import Model as Model
from .models import Softmax as Softmax
from .noise import Exact as Exact
from .noise import Simulated as Simulated
from .training import Point as Point
from .training import Settings as Settings
from .training import Trained as Trained
from .training import train as train
