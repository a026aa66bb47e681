#!/usr/bin/env python3
"""VTK's fixed-point ray caster on one core; run by volume.py under xvfb-run.

    vtk_caster.py VOLUME.nrrd SPEC.json STEP REPETITIONS OUT.ppm

Prints the seconds of each picture after the first one, which builds tables. The specification is skel's (docs/reference/volume.md),
as far as VTK supports it: a view with from, at, up and angle, a mapping in absolute values, light from the eye.
"""
import json
import math
import sys
import time

import vtkmodules.vtkInteractionStyle  # noqa: F401
import vtkmodules.vtkRenderingVolumeOpenGL2  # noqa: F401
from vtkmodules.vtkCommonDataModel import vtkPiecewiseFunction
from vtkmodules.vtkIOImage import vtkNrrdReader, vtkPNMWriter
from vtkmodules.vtkRenderingCore import (vtkColorTransferFunction, vtkRenderer, vtkRenderWindow, vtkVolume,
                                         vtkVolumeProperty, vtkWindowToImageFilter)
from vtkmodules.vtkRenderingVolume import vtkFixedPointVolumeRayCastMapper

RANGE = 10000  # range of the values
POINTS = 1000  # number of opacity knots: VTK interpolates opacity, skel extinction


def at(knots, value):
    """A piecewise linear function."""
    if value <= knots[0][0]:
        return knots[0][1]
    for (a, fa), (b, fb) in zip(knots, knots[1:]):
        if value < b:
            return fa + (fb - fa) * (value - a) / (b - a)
    return knots[-1][1]


def rgb(text):
    return [int(text[i:i + 2], 16) / 255 for i in (1, 3, 5)]


def volume_property(spec):
    mapping = spec["mapping"]
    color, opacity = vtkColorTransferFunction(), vtkPiecewiseFunction()
    for value, c in mapping["color"]:
        color.AddRGBPoint(value, *rgb(c))
    for i in range(POINTS + 1):
        value = RANGE * i / POINTS
        opacity.AddPoint(value, 1 - math.exp(-at(mapping["opacity"], value)))
    prop = vtkVolumeProperty()
    prop.SetColor(color)
    prop.SetScalarOpacity(opacity)
    prop.SetScalarOpacityUnitDistance(mapping["unit"])
    prop.SetInterpolationTypeToLinear()
    light = spec.get("light")
    if light:
        prop.ShadeOn()
        prop.SetAmbient(light["ambient"])
        prop.SetDiffuse(light["diffuse"])
        prop.SetSpecular(light["specular"])
        prop.SetSpecularPower(light["shininess"])
    return prop


def main():
    path, spec_path, step, repetitions, out = sys.argv[1:6]
    with open(spec_path, encoding="utf-8") as file:
        spec = json.load(file)
    reader = vtkNrrdReader()
    reader.SetFileName(path)
    reader.Update()
    mapper = vtkFixedPointVolumeRayCastMapper()
    mapper.SetInputConnection(reader.GetOutputPort())
    mapper.SetNumberOfThreads(1)
    mapper.AutoAdjustSampleDistancesOff()
    mapper.SetSampleDistance(float(step))
    mapper.SetInteractiveSampleDistance(float(step))
    mapper.SetImageSampleDistance(1)
    mapper.IntermixIntersectingGeometryOff()
    volume = vtkVolume()
    volume.SetMapper(mapper)
    volume.SetProperty(volume_property(spec))

    renderer = vtkRenderer()
    renderer.SetBackground(0, 0, 0)
    renderer.AddVolume(volume)
    window = vtkRenderWindow()
    window.SetOffScreenRendering(1)
    window.SetMultiSamples(0)
    window.SetSize(*spec["size"])
    window.AddRenderer(renderer)
    camera = renderer.GetActiveCamera()
    camera.SetPosition(*spec["view"]["from"])
    camera.SetFocalPoint(*spec["view"]["at"])
    camera.SetViewUp(*spec["view"]["up"])
    camera.SetViewAngle(spec["view"]["angle"])
    renderer.ResetCameraClippingRange()
    window.Render()
    for _ in range(int(repetitions)):
        volume.Modified()
        start = time.perf_counter()
        window.Render()
        window.WaitForCompletion()
        print(f"render_seconds={time.perf_counter() - start:.6f}")
    grab = vtkWindowToImageFilter()
    grab.SetInput(window)
    grab.ReadFrontBufferOff()
    writer = vtkPNMWriter()
    writer.SetInputConnection(grab.GetOutputPort())
    writer.SetFileName(out)
    writer.Write()


main()
